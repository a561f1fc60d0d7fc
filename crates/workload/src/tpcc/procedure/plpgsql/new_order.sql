-- New-Order (2.4.2.2). A function can't end its transaction, so the order stands in a block of its own, which the
-- unused item rolls back (2.4.2.3): a savepoint. What the terminal is shown (2.4.3.3, 2.4.3.4) outlives it.
--
-- in_lines: [[number, item, supplying warehouse, quantity], ...], sorted by the key of STOCK, so that two orders can't
-- wait for each other. Returns a row a valid line, each with the order's header.
CREATE FUNCTION weighbridge_new_order(
  in_w_id integer, in_d_id integer, in_c_id integer, in_all_local integer, in_lines text
) RETURNS TABLE (
  out_o_id integer, out_entry_d timestamp, out_w_tax numeric, out_d_tax numeric,
  out_c_discount numeric, out_c_last text, out_c_credit text,
  out_number integer, out_i_name text, out_i_price numeric,
  out_s_quantity integer, out_brand integer, out_dist_info text
) LANGUAGE plpgsql AS $$
DECLARE
  lines CONSTANT integer[] := translate(in_lines, '[]', '{}')::integer[];
  line integer[];
  item record;
  unused boolean := false;
BEGIN
  BEGIN
    SELECT w_tax, c_discount, c_last, c_credit, LOCALTIMESTAMP
      INTO out_w_tax, out_c_discount, out_c_last, out_c_credit, out_entry_d
      FROM warehouse, customer
      WHERE w_id = in_w_id AND c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id;
    IF NOT FOUND THEN
      RAISE 'customer % of district % is missing, or warehouse %', in_c_id, in_d_id, in_w_id USING ERRCODE = 'WB001';
    END IF;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = in_w_id AND d_id = in_d_id
      RETURNING d_tax, d_next_o_id - 1 INTO out_d_tax, out_o_id;
    IF NOT FOUND THEN
      RAISE 'district % of warehouse % is missing', in_d_id, in_w_id USING ERRCODE = 'WB001';
    END IF;
    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
      VALUES (in_w_id, in_d_id, out_o_id, in_c_id, out_entry_d, NULL, array_length(lines, 1), in_all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (in_w_id, in_d_id, out_o_id);

    FOREACH line SLICE 1 IN ARRAY lines LOOP
      SELECT i_price, i_name, i_data INTO item FROM item WHERE i_id = line[2];
      IF NOT FOUND THEN
        IF line[2] <> 100001 THEN
          RAISE 'item % is missing', line[2] USING ERRCODE = 'WB001';
        END IF;
        -- Lines that were entered before it may still be to come.
        unused := true;
        CONTINUE;
      END IF;
      UPDATE stock SET
          s_quantity = CASE WHEN s_quantity - line[4] >= 10 THEN s_quantity - line[4]
            ELSE s_quantity - line[4] + 91 END,
          s_ytd = s_ytd + line[4],
          s_order_cnt = s_order_cnt + 1,
          s_remote_cnt = s_remote_cnt + (line[3] <> in_w_id)::integer
        WHERE s_w_id = line[3] AND s_i_id = line[2]
        RETURNING s_quantity, (s_data LIKE '%ORIGINAL%' AND item.i_data LIKE '%ORIGINAL%')::integer,
          CASE in_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        INTO out_s_quantity, out_brand, out_dist_info;
      IF NOT FOUND THEN
        RAISE 'stock of item % in warehouse % is missing', line[2], line[3] USING ERRCODE = 'WB001';
      END IF;
      INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
          ol_quantity, ol_amount, ol_dist_info)
        VALUES (in_w_id, in_d_id, out_o_id, line[1], line[2], line[3], NULL,
          line[4], line[4] * item.i_price, out_dist_info);
      out_number := line[1];
      out_i_name := item.i_name;
      out_i_price := item.i_price;
      RETURN NEXT;
    END LOOP;
    IF unused THEN
      RAISE 'Item number is not valid' USING ERRCODE = 'WB000';
    END IF;
  EXCEPTION WHEN SQLSTATE 'WB000' THEN
    NULL;
  END;
END $$
