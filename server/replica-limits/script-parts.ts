/** The Lua functions at the beginning of all scripts. Their keys and arguments are described in `scripts.ts`. */
export const common = `
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
  local running, usd, tokens, ledger, at = string.match(value, '^(%d)|([^|]*)|([^|]*)|([^|]*)|?(%d*)$')
  return { running = tonumber(running), usd = tonumber(usd), tokens = tonumber(tokens), ledger = ledger, at = at }
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
      redis.call('HSET', party.lapsed, id, value .. '|' .. text(now))
      redis.call('PEXPIRE', party.lapsed, 86400000)
      for _, period in ipairs(party.periods) do addSpent(period, lease.ledger, lease.usd, lease.tokens, 0) end
    end
  end
end

local function nextParty()
  local party = { requests = nextKey(), tokens = nextKey(), leases = nextKey(), amounts = nextKey(), lapsed = nextKey(),
    settled = nextKey() }
  party.requestLimit, party.tokenLimit, party.runningLimit = nextNumber(), nextNumber(), nextNumber()
  party.hasLeases = nextText() == '1'
  party.periods = {}
  for _ = 1, nextNumber() do
    table.insert(party.periods, { key = nextKey(), ends = nextNumber(), usd = nextNumber(), tokens = nextNumber() })
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
