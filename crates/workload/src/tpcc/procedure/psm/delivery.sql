-- The deferred part of Delivery (2.7.4.2): the ten districts in one database transaction.
--
-- Returns a row a district; the number of the order is NULL where none waited.
CREATE PROCEDURE weighbridge_delivery(in_w_id INT, in_carrier_id INT) SQL SECURITY INVOKER
BEGIN
  DECLARE the_message VARCHAR(120);
  DECLARE the_d_id INT DEFAULT 1;
  DECLARE the_o_id, the_c_id INT;
  DECLARE total DECIMAL(12, 2);
  DECLARE shown TEXT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

  START TRANSACTION;
  WHILE the_d_id <= 10 DO
    SET the_o_id = NULL, the_c_id = NULL;
    SELECT no_o_id INTO the_o_id
      FROM new_order WHERE no_w_id = in_w_id AND no_d_id = the_d_id ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    SET shown = CONCAT_WS(',', shown, COALESCE(the_o_id, 'null'));
    IF the_o_id IS NOT NULL THEN
      DELETE FROM new_order WHERE no_w_id = in_w_id AND no_d_id = the_d_id AND no_o_id = the_o_id;
      IF ROW_COUNT() <> 1 THEN
        SET the_message = CONCAT('order ', the_o_id, ' of district ', the_d_id, ' was delivered by another');
        SIGNAL SQLSTATE '40001' SET MESSAGE_TEXT = the_message, MYSQL_ERRNO = 1213;
      END IF;
      -- Written before they are read: a snapshot older than the order shows it once it is our own.
      UPDATE orders SET o_carrier_id = in_carrier_id WHERE o_w_id = in_w_id AND o_d_id = the_d_id AND o_id = the_o_id;
      SELECT o_c_id INTO the_c_id FROM orders WHERE o_w_id = in_w_id AND o_d_id = the_d_id AND o_id = the_o_id;
      UPDATE order_line SET ol_delivery_d = LOCALTIMESTAMP(6)
        WHERE ol_w_id = in_w_id AND ol_d_id = the_d_id AND ol_o_id = the_o_id;
      SELECT SUM(ol_amount) INTO total
        FROM order_line WHERE ol_w_id = in_w_id AND ol_d_id = the_d_id AND ol_o_id = the_o_id;
      UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = in_w_id AND c_d_id = the_d_id AND c_id = the_c_id AND total IS NOT NULL;
      IF ROW_COUNT() <> 1 THEN
        SET the_message = CONCAT('order ', the_o_id, ' of district ', the_d_id, ', its lines or customer: missing');
        SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
      END IF;
    END IF;
    SET the_d_id = the_d_id + 1;
  END WHILE;
  COMMIT;

  SELECT delivered.*
    FROM JSON_TABLE(CONCAT('[', shown, ']'), '$[*]' COLUMNS (d_id FOR ORDINALITY, o_id INT PATH '$')) AS delivered;
END
