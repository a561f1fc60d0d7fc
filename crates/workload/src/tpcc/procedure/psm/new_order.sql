-- New-Order (2.4.2.2), rolled back at its end if it met the unused item (2.4.2.3).
--
-- in_lines: [[number, item, supplying warehouse, quantity], ...], sorted by the key of STOCK, so that two orders can't
-- wait for each other. Returns a row a valid line, each with the order's header (2.4.3.3).
CREATE PROCEDURE weighbridge_new_order(
  in_w_id INT, in_d_id INT, in_c_id INT, in_all_local INT, in_lines TEXT
) SQL SECURITY INVOKER
BEGIN
  DECLARE the_message VARCHAR(120);
  DECLARE the_entry_d DATETIME(6);
  DECLARE the_w_tax, the_d_tax, the_discount DECIMAL(4, 4);
  DECLARE the_c_last VARCHAR(16);
  DECLARE the_credit CHAR(2);
  DECLARE the_o_id, the_number, the_i_id, the_supply_w_id, the_quantity, the_stock INT;
  DECLARE the_price DECIMAL(5, 2);
  DECLARE the_name VARCHAR(24);
  DECLARE the_item_original, the_stock_original BOOLEAN;
  DECLARE the_dist_info CHAR(24);
  DECLARE at_line INT DEFAULT 0;
  DECLARE line_count INT DEFAULT JSON_LENGTH(in_lines);
  DECLARE unused BOOLEAN DEFAULT FALSE;
  DECLARE shown TEXT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

  START TRANSACTION;
  SELECT w_tax, c_discount, c_last, c_credit, LOCALTIMESTAMP(6)
    INTO the_w_tax, the_discount, the_c_last, the_credit, the_entry_d
    FROM warehouse, customer
    WHERE w_id = in_w_id AND c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id;
  IF the_entry_d IS NULL THEN
    SET the_message = CONCAT('customer ', in_c_id, ' of district ', in_d_id, ' is missing, or warehouse ', in_w_id);
    SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
  END IF;
  SELECT d_tax, d_next_o_id INTO the_d_tax, the_o_id
    FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id FOR UPDATE;
  IF the_o_id IS NULL THEN
    SET the_message = CONCAT('district ', in_d_id, ' of warehouse ', in_w_id, ' is missing');
    SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
  END IF;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = in_w_id AND d_id = in_d_id;
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (in_w_id, in_d_id, the_o_id, in_c_id, the_entry_d, NULL, line_count, in_all_local);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (in_w_id, in_d_id, the_o_id);

  WHILE at_line < line_count DO
    SET the_number = JSON_EXTRACT(in_lines, CONCAT('$[', at_line, '][0]'));
    SET the_i_id = JSON_EXTRACT(in_lines, CONCAT('$[', at_line, '][1]'));
    SET the_supply_w_id = JSON_EXTRACT(in_lines, CONCAT('$[', at_line, '][2]'));
    SET the_quantity = JSON_EXTRACT(in_lines, CONCAT('$[', at_line, '][3]'));
    SET at_line = at_line + 1;
    SET the_price = NULL, the_stock = NULL;
    SELECT i_price, i_name, i_data LIKE '%ORIGINAL%' INTO the_price, the_name, the_item_original
      FROM item WHERE i_id = the_i_id;
    IF the_price IS NOT NULL THEN
      SELECT s_quantity, s_data LIKE '%ORIGINAL%',
          CASE in_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        INTO the_stock, the_stock_original, the_dist_info
        FROM stock WHERE s_w_id = the_supply_w_id AND s_i_id = the_i_id FOR UPDATE;
      IF the_stock IS NULL THEN
        SET the_message = CONCAT('stock of item ', the_i_id, ' in warehouse ', the_supply_w_id, ' is missing');
        SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
      END IF;
      SET the_stock = the_stock - the_quantity;
      IF the_stock < 10 THEN
        SET the_stock = the_stock + 91;
      END IF;
      UPDATE stock SET
          s_quantity = the_stock,
          s_ytd = s_ytd + the_quantity,
          s_order_cnt = s_order_cnt + 1,
          s_remote_cnt = s_remote_cnt + (the_supply_w_id <> in_w_id)
        WHERE s_w_id = the_supply_w_id AND s_i_id = the_i_id;
      INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
          ol_quantity, ol_amount, ol_dist_info)
        VALUES (in_w_id, in_d_id, the_o_id, the_number, the_i_id, the_supply_w_id, NULL,
          the_quantity, the_quantity * the_price, the_dist_info);
      SET shown = CONCAT_WS(',', shown, JSON_ARRAY(the_number, the_name, the_price, the_stock,
        IF(the_item_original AND the_stock_original, 1, 0), the_dist_info));
    ELSEIF the_i_id = 100001 THEN
      -- Lines that were entered before it may still be to come.
      SET unused = TRUE;
    ELSE
      SET the_message = CONCAT('item ', the_i_id, ' is missing');
      SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
    END IF;
  END WHILE;
  IF unused THEN
    ROLLBACK;
  ELSE
    COMMIT;
  END IF;

  SELECT the_o_id, the_entry_d, the_w_tax, the_d_tax, the_discount, the_c_last, the_credit, line.*
    FROM JSON_TABLE(CONCAT('[', shown, ']'), '$[*]' COLUMNS (
      number INT PATH '$[0]', i_name VARCHAR(24) PATH '$[1]', i_price DECIMAL(5, 2) PATH '$[2]',
      s_quantity INT PATH '$[3]', brand INT PATH '$[4]', dist_info CHAR(24) PATH '$[5]')) AS line;
END
