-- close: closes a round once. What nobody claimed becomes the refund, which goes into the outbox with the number and the sum of
-- the claims that it must wait for. A closed round answers with its first reason.
--
-- KEYS:  state outbox
-- ARGV:  reason channel
-- REPLY: status now reason left_packets refunded
--        status: closed, gone (no such round), not_yet (time before ends_at, or sold_out with packets left),
--        wrong_phase (cancelled at or after starts_at); only closed has all the rest.

local state, outbox = KEYS[1], KEYS[2]
local reason, channel = ARGV[1], ARGV[2]

local fields = redis.call('HMGET', state, 'round', 'phase', 'reason', 'starts_at', 'ends_at', 'packets', 'left', 'rest',
  'refunded', 'total')
if not fields[1] then return {'gone'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local round, left, rest = fields[1], tonumber(fields[7]), tonumber(fields[8])

if fields[2] == 'closed' then return {'closed', now, fields[3], left, tonumber(fields[9])} end
if reason == 'time' and now < tonumber(fields[5]) then return {'not_yet'} end
if reason == 'sold_out' and left > 0 then return {'not_yet'} end
if reason == 'cancelled' and now >= tonumber(fields[4]) then return {'wrong_phase'} end

local claimed_packets, claimed_cents = tonumber(fields[6]) - left, tonumber(fields[10]) - rest
redis.call('XLEN', outbox) -- fails here, before the first write, if the outbox is of another type
redis.call('HSET', state, 'phase', 'closed', 'reason', reason, 'rest', 0, 'refunded', rest)
redis.call('XADD', outbox, '*', 'kind', 'refund', 'round', round, 'at', now, 'reason', reason, 'claims', claimed_packets,
  'claimed_cents', claimed_cents, 'refund_cents', rest)
redis.pcall('PUBLISH', channel, 'round ' .. round)
return {'closed', now, reason, left, rest}
