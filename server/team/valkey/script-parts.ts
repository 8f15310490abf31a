/** The Lua functions at the beginning of all scripts. Their keys and arguments are described in `scripts.ts`. */
export const commonLua = `
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

local function keepLeases(subject)
  redis.call('PEXPIRE', subject.leases, 86400000)
  redis.call('PEXPIRE', subject.amounts, 86400000)
end

local function takeLease(subject, id, value, leaseMs)
  local lease = readLease(value)
  redis.call('ZADD', subject.leases, now + leaseMs, id)
  redis.call('HSET', subject.amounts, id, value)
  local running = redis.call('HINCRBY', subject.amounts, '=running', lease.running)
  if lease.usd ~= 0 then redis.call('HINCRBYFLOAT', subject.amounts, '=usd', text(lease.usd)) end
  if lease.tokens ~= 0 then redis.call('HINCRBY', subject.amounts, '=tokens', lease.tokens) end
  if running == lease.running then keepLeases(subject) end
end

local function endLease(subject, id)
  local value = redis.call('HGET', subject.amounts, id)
  redis.call('ZREM', subject.leases, id)
  if not value then return nil end
  local lease = readLease(value)
  redis.call('HDEL', subject.amounts, id)
  if redis.call('EXISTS', subject.leases) == 0 then redis.call('DEL', subject.amounts) return value end
  redis.call('HINCRBY', subject.amounts, '=running', 0 - lease.running)
  redis.call('HINCRBYFLOAT', subject.amounts, '=usd', text(0 - lease.usd))
  redis.call('HINCRBY', subject.amounts, '=tokens', 0 - lease.tokens)
  return value
end

local function lapse(subject)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', subject.leases, '-inf', now, 'LIMIT', 0, 1000)) do
    local value = endLease(subject, id)
    local lease = value and readLease(value)
    if lease and (lease.usd > 0 or lease.tokens > 0) and #subject.periods > 0 then
      redis.call('HSET', subject.lapsed, id, value .. '|' .. text(now))
      redis.call('PEXPIRE', subject.lapsed, 86400000)
      for _, period in ipairs(subject.periods) do addSpent(period, lease.ledger, lease.usd, lease.tokens, 0) end
    end
  end
end

local function nextSubject()
  local subject = { requests = nextKey(), tokens = nextKey(), leases = nextKey(), amounts = nextKey(), lapsed = nextKey(),
    settled = nextKey() }
  subject.requestLimit, subject.tokenLimit, subject.runningLimit = nextNumber(), nextNumber(), nextNumber()
  subject.hasLeases = nextText() == '1'
  subject.periods = {}
  for _ = 1, nextNumber() do
    table.insert(subject.periods, { key = nextKey(), ends = nextNumber(), usd = nextNumber(), tokens = nextNumber() })
  end
  return subject
end

local function readCounts(subject)
  subject.requestSum, subject.requestLast, subject.tokenSum, subject.tokenLast = 0, 0, 0, 0
  subject.running, subject.reservedUsd, subject.reservedTokens = 0, 0, 0
  if subject.requestLimit then subject.requestSum, subject.requestLast, subject.requestFirst = windowOf(subject.requests) end
  if subject.tokenLimit then subject.tokenSum, subject.tokenLast, subject.tokenFirst = windowOf(subject.tokens) end
  if subject.hasLeases then
    lapse(subject)
    local read = redis.call('HMGET', subject.amounts, '=running', '=usd', '=tokens')
    subject.running, subject.reservedUsd, subject.reservedTokens =
      tonumber(read[1]) or 0, tonumber(read[2]) or 0, tonumber(read[3]) or 0
  end
end

local function nanodollars(usd) return math.floor(usd * 1e9 + 0.5) end

local function lookAtPeriod(period, ledger)
  local read = redis.call('HMGET', period.key, 'usd', 'tokens', 'unpriced', 'known|' .. ledger)
  period.spentUsd, period.spentTokens, period.unpriced =
    tonumber(read[1]) or 0, tonumber(read[2]) or 0, tonumber(read[3]) or 0
  period.begun = tonumber(read[4]) or 0
end

local function appendCounts(reply, subject, ledger)
  for _, number in ipairs({ subject.requestSum, subject.requestLast, subject.tokenSum, subject.tokenLast, subject.running,
    subject.reservedUsd, subject.reservedTokens }) do table.insert(reply, text(number)) end
  for _, period in ipairs(subject.periods) do
    if not period.begun then lookAtPeriod(period, ledger) end
    for _, number in ipairs({ period.spentUsd, period.spentTokens, period.unpriced, period.begun }) do
      table.insert(reply, text(number))
    end
  end
end

local function appendSlots(reply, subject)
  for _, key in ipairs({ subject.requests, subject.tokens }) do
    local slots = redis.call('HGETALL', key)
    local entries = {}
    for index = 1, #slots, 2 do
      if tonumber(slots[index]) then
        table.insert(entries, slots[index])
        table.insert(entries, slots[index + 1])
      end
    end
    table.insert(reply, tostring(#entries / 2))
    for _, number in ipairs(entries) do table.insert(reply, number) end
  end
end
`;
