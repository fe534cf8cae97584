-- Prepended to the scripts that need it: checks whether the keys of a round are consistent. Redis can lose one without the others: by eviction,
-- by hand, by a restore. A round whose keys do not fit grants nothing: without its claims everybody could win again, and without
-- its outbox nothing that was won would reach the ledger. What its state says was granted must be there:
--
--   outbox           always
--   claims, board    once a packet is claimed, and not before
--   amounts          of a dealt round: as many as there are packets left
local function claims_fit(outbox, claims, board, packets, left)
  return redis.call('EXISTS', outbox, claims, board) == (left < packets and 3 or 1)
end

local function keys_fit(outbox, claims, board, amounts, packets, left, split)
  return claims_fit(outbox, claims, board, packets, left) and (split ~= 'dealt' or redis.call('LLEN', amounts) == left)
end

-- The status of a round without a state: 'gone' if it has no keys at all, 'torn' if some of its other keys exist.
local function without_state(outbox, claims, board)
  return redis.call('EXISTS', outbox, claims, board) == 0 and 'gone' or 'torn'
end

