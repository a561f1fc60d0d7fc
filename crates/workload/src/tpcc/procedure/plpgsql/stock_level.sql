-- Stock-Level (2.8.2.2): items of the district's last 20 orders whose stock at home is below the threshold.
CREATE FUNCTION weighbridge_stock_level(in_w_id integer, in_d_id integer, in_threshold integer)
RETURNS TABLE (out_low_stock integer) LANGUAGE plpgsql STABLE AS $$
DECLARE
  next_o_id integer;
BEGIN
  SELECT d_next_o_id INTO next_o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;
  IF NOT FOUND THEN
    RAISE 'district % of warehouse % is missing', in_d_id, in_w_id USING ERRCODE = 'WB001';
  END IF;
  SELECT count(DISTINCT s_i_id) INTO out_low_stock
    FROM order_line, stock
    WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id < next_o_id AND ol_o_id >= next_o_id - 20
      AND s_w_id = in_w_id AND s_i_id = ol_i_id AND s_quantity < in_threshold;
  RETURN NEXT;
END $$
