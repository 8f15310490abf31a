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
const common = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local slot = math.floor(now / 1000)
local text = function(number) return string.format('%.17g', number) end
local at, keyAt = 1, 1
local function nextText() at = at + 1 return ARGV[at - 1] end
local function nextNumber() return tonumber(nextText()) end
local function nextKey() keyAt = keyAt + 1 return KEYS[keyAt - 1] end

local function windowOf(key)
  local read = redis.call('HMGET', key, 'sum', 'first', 'last')
  local sum, first, last = tonumber(read[1]), tonumber(read[2]), tonumber(read[3])
  if not sum then return 0, 0, 0 end
  if last <= slot - 61 then redis.call('DEL', key) return 0, 0, 0 end
  if first <= slot - 61 then
    for old = first, slot - 61 do
      local amount = redis.call('HGET', key, old)
      if amount then sum = sum - tonumber(amount) redis.call('HDEL', key, old) end
    end
    first = slot - 60
    redis.call('HSET', key, 'sum', text(sum), 'first', first)
  end
  return sum, last, first
end

local function addToPruned(key, place, amount, last, first)
  redis.call('HINCRBY', key, place, amount)
  redis.call('HINCRBY', key, 'sum', amount)
  if first == 0 or place < first then redis.call('HSET', key, 'first', place) end
  if place > last then
    redis.call('HSET', key, 'last', place)
    redis.call('PEXPIRE', key, 62000)
  end
end

local function addTo(key, place, amount)
  if amount == 0 or place <= slot - 61 then return end
  if place > slot then place = slot end
  local _, last, first = windowOf(key)
  addToPruned(key, place, amount, last, first)
end

local function addSpent(period, ledger, usd, tokens, unpriced)
  redis.call('HINCRBYFLOAT', period.key, 'usd', text(usd))
  redis.call('HINCRBYFLOAT', period.key, 'usd|' .. ledger, text(usd))
  redis.call('HINCRBY', period.key, 'tokens', tokens)
  redis.call('HINCRBY', period.key, 'tokens|' .. ledger, tokens)
  if unpriced ~= 0 then
    redis.call('HINCRBY', period.key, 'unpriced', unpriced)
    redis.call('HINCRBY', period.key, 'unpriced|' .. ledger, unpriced)
  end
  if period.ends then redis.call('PEXPIREAT', period.key, period.ends + 86400000) end
end

local function readLease(value)
  local running, usd, tokens, ledger = string.match(value, '^(%d)|([^|]*)|([^|]*)|(.*)$')
  return { running = tonumber(running), usd = tonumber(usd), tokens = tonumber(tokens), ledger = ledger }
end

local function keepLeases(party)
  redis.call('PEXPIRE', party.leases, 86400000)
  redis.call('PEXPIRE', party.amounts, 86400000)
end

local function takeLease(party, id, value, leaseMs)
  local lease = readLease(value)
  redis.call('ZADD', party.leases, now + leaseMs, id)
  redis.call('HSET', party.amounts, id, value)
  local running = redis.call('HINCRBY', party.amounts, '=running', lease.running)
  if lease.usd ~= 0 then redis.call('HINCRBYFLOAT', party.amounts, '=usd', text(lease.usd)) end
  if lease.tokens ~= 0 then redis.call('HINCRBY', party.amounts, '=tokens', lease.tokens) end
  if running == lease.running then keepLeases(party) end
end

local function endLease(party, id)
  local value = redis.call('HGET', party.amounts, id)
  redis.call('ZREM', party.leases, id)
  if not value then return nil end
  local lease = readLease(value)
  redis.call('HDEL', party.amounts, id)
  if redis.call('EXISTS', party.leases) == 0 then redis.call('DEL', party.amounts) return value end
  redis.call('HINCRBY', party.amounts, '=running', 0 - lease.running)
  redis.call('HINCRBYFLOAT', party.amounts, '=usd', text(0 - lease.usd))
  redis.call('HINCRBY', party.amounts, '=tokens', 0 - lease.tokens)
  return value
end

local function lapse(party)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', party.leases, '-inf', now, 'LIMIT', 0, 1000)) do
    local value = endLease(party, id)
    local lease = value and readLease(value)
    if lease and (lease.usd > 0 or lease.tokens > 0) and #party.periods > 0 then
      redis.call('HSET', party.lapsed, id, value)
      redis.call('PEXPIRE', party.lapsed, 86400000)
      for _, period in ipairs(party.periods) do addSpent(period, lease.ledger, lease.usd, lease.tokens, 0) end
    end
  end
end

local function nextParty()
  local party = { requests = nextKey(), tokens = nextKey(), leases = nextKey(), amounts = nextKey(), lapsed = nextKey() }
  party.requestLimit, party.tokenLimit, party.runningLimit = nextNumber(), nextNumber(), nextNumber()
  party.hasLeases = nextText() == '1'
  party.periods = {}
  for _ = 1, nextNumber() do
    table.insert(party.periods, { key = nextKey(), ends = nextNumber(), usd = nextNumber(), tokens = nextNumber(),
      seenBegun = nextNumber() })
  end
  return party
end

local function look(party)
  party.requestSum, party.requestLast, party.tokenSum, party.tokenLast = 0, 0, 0, 0
  party.running, party.reservedUsd, party.reservedTokens = 0, 0, 0
  if party.requestLimit then party.requestSum, party.requestLast, party.requestFirst = windowOf(party.requests) end
  if party.tokenLimit then party.tokenSum, party.tokenLast, party.tokenFirst = windowOf(party.tokens) end
  if party.hasLeases then
    lapse(party)
    local read = redis.call('HMGET', party.amounts, '=running', '=usd', '=tokens')
    party.running, party.reservedUsd, party.reservedTokens =
      tonumber(read[1]) or 0, tonumber(read[2]) or 0, tonumber(read[3]) or 0
  end
end

local function lookAtPeriod(period, ledger)
  local read = redis.call('HMGET', period.key, 'usd', 'tokens', 'unpriced', 'known|' .. ledger)
  period.spentUsd, period.spentTokens, period.unpriced =
    tonumber(read[1]) or 0, tonumber(read[2]) or 0, tonumber(read[3]) or 0
  period.begun = tonumber(read[4]) or 0
end

local function tell(reply, party, ledger)
  for _, number in ipairs({ party.requestSum, party.requestLast, party.tokenSum, party.tokenLast, party.running,
    party.reservedUsd, party.reservedTokens }) do table.insert(reply, text(number)) end
  for _, period in ipairs(party.periods) do
    if not period.begun then lookAtPeriod(period, ledger) end
    for _, number in ipairs({ period.spentUsd, period.spentTokens, period.unpriced, period.begun }) do
      table.insert(reply, text(number))
    end
  end
end

local function tellSlots(reply, party)
  for _, key in ipairs({ party.requests, party.tokens }) do
    local slots = redis.call('HGETALL', key)
    local told = {}
    for index = 1, #slots, 2 do
      if tonumber(slots[index]) then
        table.insert(told, slots[index])
        table.insert(told, slots[index + 1])
      end
    end
    table.insert(reply, tostring(#told / 2))
    for _, number in ipairs(told) do table.insert(reply, number) end
  end
end
`;

/**
 * Arguments: request (empty: only looks), how it is checked (`all`, `free`: not against budgets, `none`), `1` if it counts
 * as running, lease in milliseconds, ledger, likely tokens, most dollars, most tokens, number of parties; parties.
 * Replies 0 refused, 1 admitted, 2 what was spent is unknown; the time; the figures of each party after it; if refused, also
 * the slots of each.
 */
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
