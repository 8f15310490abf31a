/**
 * What Valkey runs, each script atomically. The keys of a party (a key or group of Sluice), in this order: `requests`, `tokens`
 * (hashes: slot of one second -> amount), `leases` (sorted set: request -> when it ends), `amounts` and `lapsed` (hashes:
 * request -> `running|usd|tokens|ledger`), then one hash for each budget period. Its arguments: requests and tokens per
 * minute, requests at the same time (empty: no limit), `1` if it has leases, the number of periods, and for each of them
 * its end in Unix milliseconds (empty: none), the hard budget in dollars and in tokens (empty: none), and when the count of
 * this ledger had begun at the last reply (empty: unknown). A count begins anew if Valkey has lost its data; from then on,
 * what ended before is in the sum that the ledger offers.
 *
 * Replies are numbers in one string, separated by spaces. All times are the server's.
 */
import { common } from './script-parts.ts';

const admit = `${common}
local id, checks, running, leaseMs = nextText(), nextText(), nextNumber(), nextNumber()
local ledger, likelyTokens, usd, tokens, count = nextText(), nextNumber(), nextNumber(), nextNumber(), nextNumber()
local parties, verdict = {}, 1
for _ = 1, count do
  local party = nextParty()
  table.insert(parties, party)
  look(party)
  if party.requestLimit and party.requestSum >= party.requestLimit then verdict = 0 end
  if party.tokenLimit and party.tokenSum >= party.tokenLimit then verdict = 0 end
  if running == 1 and party.runningLimit and party.running >= party.runningLimit then verdict = 0 end
end
if checks == 'all' then
  for _, party in ipairs(parties) do
    for _, period in ipairs(party.periods) do
      lookAtPeriod(period, ledger)
      local isHard = period.usd or period.tokens
      if isHard and period.begun == 0 then verdict = 2 end
      if verdict == 1 and period.usd and period.usd - period.spentUsd <= party.reservedUsd then verdict = 0 end
      if verdict == 1 and period.tokens and period.tokens - period.spentTokens <= party.reservedTokens then verdict = 0 end
    end
  end
end
if checks == 'none' or id == '' then verdict = 1 end
if verdict == 1 and id ~= '' then
  local value = running .. '|' .. text(usd) .. '|' .. text(tokens) .. '|' .. ledger
  for _, party in ipairs(parties) do
    if party.requestLimit then
      addToPruned(party.requests, slot, 1, party.requestLast, party.requestFirst)
      party.requestSum, party.requestLast = party.requestSum + 1, slot
    end
    if party.tokenLimit and likelyTokens ~= 0 then
      addToPruned(party.tokens, slot, likelyTokens, party.tokenLast, party.tokenFirst)
      party.tokenSum, party.tokenLast = party.tokenSum + likelyTokens, slot
    end
    if party.hasLeases then
      takeLease(party, id, value, leaseMs)
      party.running = party.running + running
      party.reservedUsd, party.reservedTokens = party.reservedUsd + usd, party.reservedTokens + tokens
    end
  end
end
local reply = { tostring(verdict), text(now) }
for _, party in ipairs(parties) do tell(reply, party, ledger) end
if verdict == 0 then for _, party in ipairs(parties) do tellSlots(reply, party) end end
return table.concat(reply, ' ')
`;

/**
 * Arguments: request, `1` if it was perhaps settled before, when it was admitted (0: not here), requests and tokens to add at
 * that time, tokens to add now; dollars, tokens and unpriced requests spent; ledger, number of parties; parties.
 * Replies 1, the time and the figures of each party.
 */
const settle = `${common}
local id, isAgain, admittedAt = nextText(), nextText() == '1', nextNumber()
local requests, tokensThen, tokensNow = nextNumber(), nextNumber(), nextNumber()
local usd, tokens, unpriced, ledger, count = nextNumber(), nextNumber(), nextNumber(), nextText(), nextNumber()
local place = math.floor(admittedAt / 1000)
local reply = { '1', text(now) }
for _ = 1, count do
  local party = nextParty()
  local lapsed = redis.call('HGET', party.lapsed, id)
  local lease = endLease(party, id)
  if lapsed then redis.call('HDEL', party.lapsed, id) end
  if not isAgain or lapsed or lease then
    if party.requestLimit and admittedAt > 0 then addTo(party.requests, place, requests) end
    if party.tokenLimit and admittedAt > 0 then
      addTo(party.tokens, place, tokensThen)
      addTo(party.tokens, slot, tokensNow)
    end
    for _, period in ipairs(party.periods) do
      if lapsed then
        local before = readLease(lapsed)
        addSpent(period, before.ledger, 0 - before.usd, 0 - before.tokens, 0)
      end
      local begun = tonumber(redis.call('HGET', period.key, 'known|' .. ledger))
      if not period.seenBegun or period.seenBegun == begun then addSpent(period, ledger, usd, tokens, unpriced) end
    end
  end
  look(party)
  tell(reply, party, ledger)
end
return table.concat(reply, ' ')
`;

/** Keys: `leases`, `amounts`, `lapsed`. Arguments: lease in milliseconds; for each request its name and `running|usd|tokens|ledger`. */
const renew = `${common}
local leaseMs = nextNumber()
local party = { leases = nextKey(), amounts = nextKey(), lapsed = nextKey() }
while at <= #ARGV do
  local id, value = nextText(), nextText()
  if redis.call('HEXISTS', party.amounts, id) == 1 then
    redis.call('ZADD', party.leases, now + leaseMs, id)
  elseif redis.call('HEXISTS', party.lapsed, id) == 1 then
    takeLease(party, id, string.sub(value, 1, 1) .. '|0|0|' .. readLease(value).ledger, leaseMs)
  else
    takeLease(party, id, value, leaseMs)
  end
end
keepLeases(party)
return '1'
`;

/** The sum of a ledger for one period; the larger one counts. Arguments: ledger, dollars, tokens, unpriced requests, the period's end. */
const offer = `${common}
local ledger, sums = nextText(), { usd = nextNumber(), tokens = nextNumber(), unpriced = nextNumber() }
local period = { key = nextKey(), ends = nextNumber() }
local function missing(unit)
  return math.max(0, sums[unit] - (tonumber(redis.call('HGET', period.key, unit .. '|' .. ledger)) or 0))
end
addSpent(period, ledger, missing('usd'), missing('tokens'), missing('unpriced'))
redis.call('HSETNX', period.key, 'known|' .. ledger, text(now))
return '1'
`;

/** Key: the sorted set of replicas. Arguments: this replica, how long it counts as alive in milliseconds (0: it leaves). Replies how many live, and the time. */
const beat = `${common}
local replicas, replica, aliveMs = nextKey(), nextText(), nextNumber()
if aliveMs == 0 then redis.call('ZREM', replicas, replica) else redis.call('ZADD', replicas, now + aliveMs, replica) end
redis.call('ZREMRANGEBYSCORE', replicas, '-inf', now)
redis.call('PEXPIRE', replicas, 86400000)
return redis.call('ZCARD', replicas) .. ' ' .. text(now)
`;

export const scripts = { admit, settle, renew, offer, beat } as const;
export type ScriptName = keyof typeof scripts;
