-- The deferred part of Delivery (2.7.4.2): the ten districts in one database transaction.
--
-- Returns a row a district; out_o_id is NULL where no order waited.
CREATE FUNCTION weighbridge_delivery(in_w_id integer, in_carrier_id integer)
RETURNS TABLE (out_d_id integer, out_o_id integer) LANGUAGE plpgsql AS $$
DECLARE
  customer_id integer;
  total numeric;
BEGIN
  FOR district_id IN 1..10 LOOP
    out_d_id := district_id;
    SELECT no_o_id INTO out_o_id FROM new_order
      WHERE no_w_id = in_w_id AND no_d_id = out_d_id ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    RETURN NEXT;
    CONTINUE WHEN out_o_id IS NULL;

    DELETE FROM new_order WHERE no_w_id = in_w_id AND no_d_id = out_d_id AND no_o_id = out_o_id;
    IF NOT FOUND THEN
      RAISE 'order % of district % was delivered by another', out_o_id, out_d_id USING ERRCODE = '40001';
    END IF;
    UPDATE orders SET o_carrier_id = in_carrier_id WHERE o_w_id = in_w_id AND o_d_id = out_d_id AND o_id = out_o_id
      RETURNING o_c_id INTO customer_id;
    IF NOT FOUND THEN
      RAISE 'order % of district % is missing', out_o_id, out_d_id USING ERRCODE = 'WB001';
    END IF;
    WITH delivered AS (
      UPDATE order_line SET ol_delivery_d = LOCALTIMESTAMP
        WHERE ol_w_id = in_w_id AND ol_d_id = out_d_id AND ol_o_id = out_o_id RETURNING ol_amount
    )
    SELECT sum(ol_amount) INTO total FROM delivered;
    IF total IS NULL THEN
      RAISE 'order % of district % has no lines', out_o_id, out_d_id USING ERRCODE = 'WB001';
    END IF;
    UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = in_w_id AND c_d_id = out_d_id AND c_id = customer_id;
    IF NOT FOUND THEN
      RAISE 'customer % of district % is missing', customer_id, out_d_id USING ERRCODE = 'WB001';
    END IF;
  END LOOP;
END $$
