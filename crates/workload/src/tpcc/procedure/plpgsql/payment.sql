-- Payment (2.5.2.2). Without in_c_id the customer is the one in the middle of those named in_c_last.
--
-- Returns one row; out_c_data is NULL unless the credit is bad (2.5.3.3).
CREATE FUNCTION weighbridge_payment(
  in_w_id integer, in_d_id integer, in_c_w_id integer, in_c_d_id integer, in_c_id integer, in_c_last text,
  in_amount numeric
) RETURNS TABLE (
  out_c_id integer, out_h_date timestamp, out_c_data text,
  out_w_name text, out_w_street_1 text, out_w_street_2 text, out_w_city text, out_w_state text, out_w_zip text,
  out_d_name text, out_d_street_1 text, out_d_street_2 text, out_d_city text, out_d_state text, out_d_zip text,
  out_c_first text, out_c_middle text, out_c_last text,
  out_c_street_1 text, out_c_street_2 text, out_c_city text, out_c_state text, out_c_zip text,
  out_c_phone text, out_c_since timestamp, out_c_credit text, out_c_credit_lim numeric, out_c_discount numeric,
  out_c_balance numeric
) LANGUAGE plpgsql AS $$
BEGIN
  -- The warehouse first: its row is the hottest.
  UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip, LOCALTIMESTAMP
    INTO out_w_name, out_w_street_1, out_w_street_2, out_w_city, out_w_state, out_w_zip, out_h_date;
  IF NOT FOUND THEN
    RAISE 'warehouse % is missing', in_w_id USING ERRCODE = 'WB001';
  END IF;
  UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w_id AND d_id = in_d_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO out_d_name, out_d_street_1, out_d_street_2, out_d_city, out_d_state, out_d_zip;
  IF NOT FOUND THEN
    RAISE 'district % of warehouse % is missing', in_d_id, in_w_id USING ERRCODE = 'WB001';
  END IF;

  out_c_id := in_c_id;
  IF out_c_id IS NULL THEN
    SELECT (array_agg(c_id ORDER BY c_first, c_id))[(count(*) + 1) / 2] INTO out_c_id
      FROM customer WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last;
  END IF;
  UPDATE customer SET
      c_balance = c_balance - in_amount,
      c_ytd_payment = c_ytd_payment + in_amount,
      c_payment_cnt = c_payment_cnt + 1,
      c_data = CASE WHEN c_credit <> 'BC' THEN c_data
        ELSE left(concat_ws(' ', c_id, c_d_id, c_w_id, in_d_id, in_w_id, in_amount, c_data), 500) END
    WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = out_c_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
      c_credit_lim, c_discount, c_balance, CASE WHEN c_credit = 'BC' THEN left(c_data, 200) END
    INTO out_c_first, out_c_middle, out_c_last, out_c_street_1, out_c_street_2, out_c_city, out_c_state, out_c_zip,
      out_c_phone, out_c_since, out_c_credit, out_c_credit_lim, out_c_discount, out_c_balance, out_c_data;
  IF NOT FOUND THEN
    RAISE 'customer % of district % of warehouse % is missing', coalesce(in_c_id::text, in_c_last), in_c_d_id, in_c_w_id
      USING ERRCODE = 'WB001';
  END IF;

  INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
    VALUES (in_c_w_id, in_c_d_id, out_c_id, in_w_id, in_d_id, out_h_date, in_amount,
      out_w_name || '    ' || out_d_name);
  RETURN NEXT;
END $$
