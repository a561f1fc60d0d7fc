-- Order-Status (2.6.2.2). Without in_c_id the customer is the one in the middle of those named in_c_last.
--
-- Returns a row a line of the customer's latest order, each with the header. STABLE: all its reads see one snapshot.
CREATE FUNCTION weighbridge_order_status(in_w_id integer, in_d_id integer, in_c_id integer, in_c_last text)
RETURNS TABLE (
  out_c_id integer, out_c_balance numeric, out_c_first text, out_c_middle text, out_c_last text,
  out_o_id integer, out_entry_d timestamp, out_carrier_id integer,
  out_i_id integer, out_supply_w_id integer, out_quantity integer, out_amount numeric, out_delivery_d timestamp
) LANGUAGE plpgsql STABLE AS $$
BEGIN
  out_c_id := in_c_id;
  IF out_c_id IS NULL THEN
    SELECT (array_agg(c_id ORDER BY c_first, c_id))[(count(*) + 1) / 2] INTO out_c_id
      FROM customer WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last;
  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO out_c_balance, out_c_first, out_c_middle, out_c_last
    FROM customer WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = out_c_id;
  IF NOT FOUND THEN
    RAISE 'customer % of district % of warehouse % is missing', coalesce(in_c_id::text, in_c_last), in_d_id, in_w_id
      USING ERRCODE = 'WB001';
  END IF;
  SELECT o_id, o_entry_d, o_carrier_id INTO out_o_id, out_entry_d, out_carrier_id
    FROM orders WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = out_c_id ORDER BY o_id DESC LIMIT 1;
  IF NOT FOUND THEN
    RAISE 'customer % of district % of warehouse % has no order', out_c_id, in_d_id, in_w_id USING ERRCODE = 'WB001';
  END IF;
  FOR out_i_id, out_supply_w_id, out_quantity, out_amount, out_delivery_d IN
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
      FROM order_line WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = out_o_id
  LOOP
    RETURN NEXT;
  END LOOP;
  IF NOT FOUND THEN
    RAISE 'order % of district % of warehouse % has no lines', out_o_id, in_d_id, in_w_id USING ERRCODE = 'WB001';
  END IF;
END $$
