-- watermark: reads what a round has granted, and how far its outbox has been consumed, at one moment. The ledger can be compared
-- with it once everything up to the last entry has been acknowledged. Needs fit.lua in front.
--
-- KEYS:  state claims board outbox amounts
-- ARGV:  group
-- REPLY: now phase frozen freeze_version claims claimed_cents rest refunded expires_at last delivered pending first_pending
--        phase: open, closed; last, delivered and first_pending are ids of entries, 0-0 for none: the newest entry, the
--        newest one that was delivered to the group, and the oldest that is delivered and not acknowledged.
--        now 'gone' when Redis has nothing of the round; now 'torn' when some of its keys, or the group, are missing.

local state, claims, board, outbox, amounts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local group = ARGV[1]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fields = redis.call('HMGET', state, 'phase', 'frozen', 'packets', 'left', 'total', 'rest', 'refunded', 'expires_at',
  'freeze_version', 'split')
if not fields[1] then return {now, without_state(outbox, claims, board)} end
if not keys_fit(outbox, claims, board, amounts, tonumber(fields[3]), tonumber(fields[4]), fields[10]) then return {now, 'torn'} end

local delivered
for _, attributes in ipairs(redis.call('XINFO', 'GROUPS', outbox)) do
  local named = {}
  for i = 1, #attributes, 2 do named[attributes[i]] = attributes[i + 1] end
  if named['name'] == group then delivered = named['last-delivered-id'] end
end
if not delivered then return {now, 'torn'} end
if not string.find(delivered, '-', 1, true) then delivered = delivered .. '-0' end

local newest = redis.call('XREVRANGE', outbox, '+', '-', 'COUNT', 1)
local last = newest[1] and newest[1][1] or '0-0'
local pending = redis.call('XPENDING', outbox, group)
local total, rest, refunded = tonumber(fields[5]), tonumber(fields[6]), tonumber(fields[7])
return {now, fields[1], tonumber(fields[2]), tonumber(fields[9] or 0), tonumber(fields[3]) - tonumber(fields[4]), total - rest - refunded, rest, refunded,
  tonumber(fields[8]), last, delivered, pending[1], pending[2] or '0-0'}
