-- close: closes a round once. What nobody claimed becomes the refund, which goes into the outbox with the number and the sum of
-- the claims that it must wait for. A closed round answers with its first reason. Needs fit.lua in front.
--
-- KEYS:  state claims board outbox amounts
-- ARGV:  reason channel again
--        again is 1 to repeat a close that the ledger has and Redis has lost: the reason is not checked.
-- REPLY: status now reason left_packets refunded
--        status: closed, gone (nothing of the round is there), torn (its keys do not fit together), not_yet (time before ends_at,
--        or sold_out with packets left), wrong_phase (cancelled at or after starts_at); only closed has all the rest.

local state, claims, board, outbox, amounts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local reason, channel, again = ARGV[1], ARGV[2], ARGV[3] == '1'

local fields = redis.call('HMGET', state, 'round', 'phase', 'reason', 'starts_at', 'ends_at', 'packets', 'left', 'rest',
  'refunded', 'total', 'split')
if not fields[1] then return {without_state(outbox, claims, board)} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local round, left, rest = fields[1], tonumber(fields[7]), tonumber(fields[8])

if fields[2] == 'closed' then return {'closed', now, fields[3], left, tonumber(fields[9])} end
if not keys_fit(outbox, claims, board, amounts, tonumber(fields[6]), left, fields[11]) then return {'torn'} end
if not again then
  if reason == 'time' and now < tonumber(fields[5]) then return {'not_yet'} end
  if reason == 'sold_out' and left > 0 then return {'not_yet'} end
  if reason == 'cancelled' and now >= tonumber(fields[4]) then return {'wrong_phase'} end
end

local claimed_packets, claimed_cents = tonumber(fields[6]) - left, tonumber(fields[10]) - rest
redis.call('XLEN', outbox) -- fails here, before the first write, if the outbox is of another type
redis.call('HSET', state, 'phase', 'closed', 'reason', reason, 'rest', 0, 'refunded', rest)
redis.call('XADD', outbox, '*', 'kind', 'refund', 'round', round, 'at', now, 'reason', reason, 'claims', claimed_packets,
  'claimed_cents', claimed_cents, 'refund_cents', rest)
redis.pcall('PUBLISH', channel, 'round ' .. round)
return {'closed', now, reason, left, rest}
