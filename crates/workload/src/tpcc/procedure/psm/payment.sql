-- Payment (2.5.2.2). Without in_c_id the customer is the one in the middle of those named in_c_last.
--
-- Returns one row; C_DATA is NULL in it unless the credit is bad (2.5.3.3).
CREATE PROCEDURE weighbridge_payment(
  in_w_id INT, in_d_id INT, in_c_w_id INT, in_c_d_id INT,
  in_c_id INT, in_c_last VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, in_amount DECIMAL(6, 2)
) SQL SECURITY INVOKER
BEGIN
  DECLARE the_message VARCHAR(120);
  DECLARE namesakes, before_middle INT;
  DECLARE the_c_id INT DEFAULT in_c_id;
  DECLARE the_date DATETIME(6) DEFAULT LOCALTIMESTAMP(6);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

  START TRANSACTION;
  -- The warehouse first: its row is the hottest.
  UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w_id;
  UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w_id AND d_id = in_d_id;

  IF the_c_id IS NULL THEN
    SELECT COUNT(*) INTO namesakes
      FROM customer WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last;
    SET before_middle = (namesakes + 1) DIV 2 - 1;
    IF namesakes > 0 THEN
      SELECT c_id INTO the_c_id
        FROM customer WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last
        ORDER BY c_first, c_id LIMIT before_middle, 1;
    END IF;
  END IF;
  UPDATE customer SET
      c_balance = c_balance - in_amount,
      c_ytd_payment = c_ytd_payment + in_amount,
      c_payment_cnt = c_payment_cnt + 1,
      c_data = CASE WHEN c_credit <> 'BC' THEN c_data
        ELSE LEFT(CONCAT_WS(' ', c_id, c_d_id, c_w_id, in_d_id, in_w_id, in_amount, c_data), 500) END
    WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;

  -- No row unless all three are there.
  INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
    SELECT c_w_id, c_d_id, c_id, w_id, d_id, the_date, in_amount, CONCAT(w_name, '    ', d_name)
    FROM warehouse, district, customer
    WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id
      AND c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;
  IF ROW_COUNT() <> 1 THEN
    SET the_message = CONCAT('warehouse ', in_w_id, ', its district ', in_d_id, ' or customer ',
      COALESCE(in_c_id, in_c_last), ' of district ', in_c_d_id, ' of warehouse ', in_c_w_id, ' is missing');
    SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
  END IF;

  SELECT c_id, the_date, CASE WHEN c_credit = 'BC' THEN LEFT(c_data, 200) END,
      w_name, w_street_1, w_street_2, w_city, w_state, w_zip, d_name, d_street_1, d_street_2, d_city, d_state, d_zip,
      c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit,
      c_credit_lim, c_discount, c_balance
    FROM warehouse, district, customer
    WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id
      AND c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;
  COMMIT;
END
