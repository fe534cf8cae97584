-- report: an instance says how many players it has in a room, how many taps it counted in the round and who came last, takes or
-- keeps the room's lease if it can, and learns the sums over all instances. The holder of the lease publishes the tally.
--
-- An epoch is the moment at which a lease began, or one more than the last, so it grows even over a Redis that lost its keys.
--
-- KEYS:  lease reports
-- ARGV:  instance round online taps lease_ms fresh_ms lifetime_ms arrivals
--        lease_ms 0 gives the lease back. arrivals is 'moment player moment player …', as short as the instance wants it.
-- REPLY: now epoch online taps arrivals
--        epoch is 0 when another instance holds the lease. Who did not report within fresh_ms is not online; its taps count.
--        arrivals is those of all who are online, one after the other, and empty when another instance holds the lease.

local lease, reports = KEYS[1], KEYS[2]
local instance, round, online, taps = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lease_ms, fresh_ms, lifetime_ms = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local arrivals = ARGV[8]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local held = redis.call('HMGET', lease, 'holder', 'epoch', 'until') -- fails before the first write if it is of another type

if lease_ms == 0 then online, arrivals = 0, '' end -- who leaves has no players, but the taps were tapped
redis.call('HSET', reports, instance, now .. ' ' .. online .. ' ' .. taps .. ' ' .. round .. ' ' .. arrivals)
redis.call('PEXPIRE', reports, lifetime_ms)
local all = redis.call('HGETALL', reports)
local online_sum, taps_sum, here, old = 0, 0, {}, {}
for i = 1, #all, 2 do
  local at, players, count, of, came = string.match(all[i + 1], '^(%d+) (%d+) (%d+) (%S*) ?(.*)$')
  local fresh = tonumber(at) > now - fresh_ms
  if fresh then online_sum = online_sum + tonumber(players) end
  if fresh and came ~= '' then here[#here + 1] = came end
  if of == round then taps_sum = taps_sum + tonumber(count) end
  if not fresh and of ~= round then old[#old + 1] = all[i] end
end
if #old > 0 then redis.call('HDEL', reports, unpack(old)) end

local epoch = 0
if held[1] == instance then epoch = tonumber(held[2]) end
if lease_ms == 0 then
  if epoch > 0 then redis.call('HSET', lease, 'holder', '', 'until', 0) end -- the epoch stays, the next must be higher
  return {now, 0, online_sum, taps_sum, ''}
end
if epoch == 0 and (not held[1] or now >= tonumber(held[3])) then
  epoch = math.max(now, tonumber(held[2] or 0) + 1)
end
if epoch > 0 then
  redis.call('HSET', lease, 'holder', instance, 'epoch', epoch, 'until', now + lease_ms)
  redis.call('PEXPIRE', lease, lifetime_ms)
end
return {now, epoch, online_sum, taps_sum, epoch > 0 and table.concat(here, ' ') or ''}
