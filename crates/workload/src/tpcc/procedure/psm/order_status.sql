-- Order-Status (2.6.2.2). Without in_c_id the customer is the one in the middle of those named in_c_last.
--
-- Returns a row a line of the customer's latest order, each with the header.
CREATE PROCEDURE weighbridge_order_status(
  in_w_id INT, in_d_id INT, in_c_id INT, in_c_last VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
) SQL SECURITY INVOKER
BEGIN
  DECLARE the_message VARCHAR(120);
  DECLARE namesakes, before_middle, the_o_id INT;
  DECLARE the_c_id INT DEFAULT in_c_id;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

  START TRANSACTION READ ONLY;
  IF the_c_id IS NULL THEN
    SELECT COUNT(*) INTO namesakes FROM customer WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last;
    SET before_middle = (namesakes + 1) DIV 2 - 1;
    IF namesakes > 0 THEN
      SELECT c_id INTO the_c_id FROM customer WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last
        ORDER BY c_first, c_id LIMIT before_middle, 1;
    END IF;
  END IF;
  SELECT o_id INTO the_o_id
    FROM orders WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = the_c_id ORDER BY o_id DESC LIMIT 1;
  IF the_o_id IS NULL THEN
    SET the_message = CONCAT('customer ', COALESCE(in_c_id, in_c_last), ' of district ', in_d_id, ' of warehouse ',
      in_w_id, ' is missing, or has no order');
    SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
  END IF;
  SELECT c_id, c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id,
      ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM customer, orders, order_line
    WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = the_c_id
      AND o_w_id = in_w_id AND o_d_id = in_d_id AND o_id = the_o_id
      AND ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = the_o_id;
  COMMIT;
END
