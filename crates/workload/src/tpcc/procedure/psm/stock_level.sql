-- Stock-Level (2.8.2.2): items of the district's last 20 orders whose stock at home is below the threshold.
CREATE PROCEDURE weighbridge_stock_level(in_w_id INT, in_d_id INT, in_threshold INT) SQL SECURITY INVOKER
BEGIN
  DECLARE the_message VARCHAR(120);
  DECLARE next_o_id, low_stock INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

  -- Committed data are all it needs (2.8.2.3): no lock, whatever the session's level.
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ ONLY;
  SELECT d_next_o_id INTO next_o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;
  IF next_o_id IS NULL THEN
    SET the_message = CONCAT('district ', in_d_id, ' of warehouse ', in_w_id, ' is missing');
    SIGNAL SQLSTATE 'WB001' SET MESSAGE_TEXT = the_message;
  END IF;
  SELECT COUNT(DISTINCT s_i_id) INTO low_stock
    FROM order_line, stock
    WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id < next_o_id AND ol_o_id >= next_o_id - 20
      AND s_w_id = in_w_id AND s_i_id = ol_i_id AND s_quantity < in_threshold;
  COMMIT;
  SELECT low_stock;
END
