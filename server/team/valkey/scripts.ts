/**
 * The scripts that Valkey runs, each atomically. The keys of a subject (a key or group of Sluice), in this order:
 * `requests`, `tokens` (hashes: slot of one second -> amount), `leases` (sorted set: request -> when it ends),
 * `amounts` (hash: request -> `running|usd|tokens|ledger`), `lapsed` (the same, and when it lapsed), `settled` (sorted
 * set: ended request -> when that was reported), then one hash for each budget period. Its arguments: requests and
 * tokens per minute, requests at the same time (empty: no limit), `1` if it has leases, the number of periods, and for
 * each of them its end in Unix milliseconds (empty: none) and the hard budget in dollars and in tokens (empty: none).
 *
 * Replies are texts without spaces, mostly numbers, in one string, separated by spaces. All times are the server's.
 */

/** The Lua functions at the beginning of all scripts. Their keys and arguments are described in `scripts.ts`. */
const commonLua = `
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

/** How long an ended request is remembered: longer than its row needs to reach the ledger. */
const settledMs = 30_000;

/**
 * Arguments: request (empty: only looks), how it is checked (`all`, `free`: not against budgets, `none`), `1` if it counts
 * as running, lease in milliseconds, ledger, likely tokens, most dollars, most tokens, number of subjects; subjects.
 * Replies 0 refused, 1 admitted, 2 what was spent is unknown; the time; the figures of each subject after it; if refused, also
 * the slots of each.
 */
const admit = `${commonLua}
local id, checks, running, leaseMs = nextText(), nextText(), nextNumber(), nextNumber()
local ledger, likelyTokens, usd, tokens, count = nextText(), nextNumber(), nextNumber(), nextNumber(), nextNumber()
local subjects, verdict = {}, 1
for _ = 1, count do
  local subject = nextSubject()
  table.insert(subjects, subject)
  readCounts(subject)
  if subject.requestLimit and subject.requestSum >= subject.requestLimit then verdict = 0 end
  if subject.tokenLimit and subject.tokenSum >= subject.tokenLimit then verdict = 0 end
  if running == 1 and subject.runningLimit and subject.running >= subject.runningLimit then verdict = 0 end
end
if checks == 'all' then
  for _, subject in ipairs(subjects) do
    for _, period in ipairs(subject.periods) do
      lookAtPeriod(period, ledger)
      local isHard = period.usd or period.tokens
      if isHard and period.begun == 0 then verdict = 2 end
      if verdict == 1 and period.usd and nanodollars(period.usd - period.spentUsd) <= nanodollars(subject.reservedUsd) then verdict = 0 end
      if verdict == 1 and period.tokens and period.tokens - period.spentTokens <= subject.reservedTokens then verdict = 0 end
    end
  end
end
if checks == 'none' or id == '' then verdict = 1 end
if verdict == 1 and id ~= '' then
  local value = running .. '|' .. text(usd) .. '|' .. text(tokens) .. '|' .. ledger
  for _, subject in ipairs(subjects) do
    if subject.requestLimit then
      addToPruned(subject.requests, slot, 1, subject.requestLast, subject.requestFirst)
      subject.requestSum, subject.requestLast = subject.requestSum + 1, slot
    end
    if subject.tokenLimit and likelyTokens ~= 0 then
      addToPruned(subject.tokens, slot, likelyTokens, subject.tokenLast, subject.tokenFirst)
      subject.tokenSum, subject.tokenLast = subject.tokenSum + likelyTokens, slot
    end
    if subject.hasLeases then
      takeLease(subject, id, value, leaseMs)
      subject.running = subject.running + running
      subject.reservedUsd, subject.reservedTokens = subject.reservedUsd + usd, subject.reservedTokens + tokens
    end
  end
end
local reply = { tostring(verdict), text(now) }
for _, subject in ipairs(subjects) do appendCounts(reply, subject, ledger) end
if verdict == 0 then for _, subject in ipairs(subjects) do appendSlots(reply, subject) end end
return table.concat(reply, ' ')
`;

/**
 * Ends a request; reporting the same end again, because the reply was lost, counts once. Arguments: request, when it began and when
 * it was admitted (0: not here), requests and tokens to add at that time, tokens to add now; dollars, tokens and unpriced requests
 * spent; ledger, number of subjects; subjects. Replies 1, the time and the figures of each subject.
 */
const settle = `${commonLua}
local id, startedAt, admittedAt = nextText(), nextText(), nextNumber()
local requests, tokensThen, tokensNow = nextNumber(), nextNumber(), nextNumber()
local usd, tokens, unpriced, ledger, count = nextText(), nextNumber(), nextNumber(), nextText(), nextNumber()
local place = math.floor(admittedAt / 1000)
local ended = table.concat({ id, startedAt, usd, tokens, unpriced, ledger }, '|')
local changes = admittedAt > 0 or tonumber(usd) ~= 0 or tokens ~= 0 or unpriced ~= 0
local reply = { '1', text(now) }
for _ = 1, count do
  local subject = nextSubject()
  local lapsed = redis.call('HGET', subject.lapsed, id)
  endLease(subject, id)
  if lapsed then
    redis.call('HDEL', subject.lapsed, id)
    local before = readLease(lapsed)
    for _, period in ipairs(subject.periods) do addSpent(period, before.ledger, 0 - before.usd, 0 - before.tokens, 0) end
  end
  if changes and redis.call('ZADD', subject.settled, 'NX', now, ended) == 1 then
    redis.call('ZREMRANGEBYSCORE', subject.settled, '-inf', now - ${settledMs})
    redis.call('PEXPIRE', subject.settled, ${settledMs})
    if subject.requestLimit and admittedAt > 0 then addTo(subject.requests, place, requests) end
    if subject.tokenLimit and admittedAt > 0 then
      addTo(subject.tokens, place, tokensThen)
      addTo(subject.tokens, slot, tokensNow)
    end
    for _, period in ipairs(subject.periods) do addSpent(period, ledger, tonumber(usd), tokens, unpriced) end
  end
  readCounts(subject)
  appendCounts(reply, subject, ledger)
end
return table.concat(reply, ' ')
`;

/** Keys: `leases`, `amounts`, `lapsed`. Arguments: lease in milliseconds; for each request its name and `running|usd|tokens|ledger`. */
const renew = `${commonLua}
local leaseMs = nextNumber()
local subject = { leases = nextKey(), amounts = nextKey(), lapsed = nextKey() }
while at <= #ARGV do
  local id, value = nextText(), nextText()
  if redis.call('HEXISTS', subject.amounts, id) == 1 then
    redis.call('ZADD', subject.leases, now + leaseMs, id)
  elseif redis.call('HEXISTS', subject.lapsed, id) == 1 then
    takeLease(subject, id, string.sub(value, 1, 1) .. '|0|0|' .. readLease(value).ledger, leaseMs)
  else
    takeLease(subject, id, value, leaseMs)
  end
end
keepLeases(subject)
return '1'
`;

/**
 * The sum of one ledger for one period. Keys: `lapsed`, `settled`, the period. Argument: ledger. Replies with dollars,
 * tokens, unpriced requests, when the sum was last corrected (a number that only grows; 0: never), and `1` if it is
 * known. Then follows, for each request that may not be in the ledger yet,
 * `request|when it began or lapsed|usd|tokens|unpriced|ledger`.
 */
const sum = `${commonLua}
local lapsed, settled, period, ledger = nextKey(), nextKey(), nextKey(), nextText()
local reply = redis.call('HMGET', period, 'usd|' .. ledger, 'tokens|' .. ledger, 'unpriced|' .. ledger, 'corrected|' .. ledger)
for index = 1, 4 do reply[index] = reply[index] or '0' end
table.insert(reply, tostring(redis.call('HEXISTS', period, 'known|' .. ledger)))
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', settled, '-inf', '+inf')) do table.insert(reply, ended) end
local found = redis.call('HGETALL', lapsed)
for index = 1, #found, 2 do
  local lease = readLease(found[index + 1])
  table.insert(reply, table.concat({ found[index], lease.at, text(lease.usd), lease.tokens, 0, lease.ledger }, '|'))
end
return table.concat(reply, ' ')
`;

/**
 * Adds the missing amount to such a sum, unless another replica has corrected it in the meantime. Key: the period.
 * Arguments: ledger, when it had last been corrected, dollars, tokens, unpriced requests, the period's end. Replies
 * with `1` if the amount was added.
 */
const correct = `${commonLua}
local ledger, corrected = nextText(), nextText()
local usd, tokens, unpriced = nextNumber(), nextNumber(), nextNumber()
local period = { key = nextKey(), ends = nextNumber() }
if (redis.call('HGET', period.key, 'corrected|' .. ledger) or '0') ~= corrected then return '0' end
redis.call('HSET', period.key, 'corrected|' .. ledger, text(math.max(now, tonumber(corrected) + 1)))
addSpent(period, ledger, usd, tokens, unpriced)
redis.call('HSETNX', period.key, 'known|' .. ledger, text(now))
return '1'
`;

/**
 * Key: the sorted set of replicas. Arguments: this replica, how long it counts as alive in milliseconds (0: it signs
 * off). Replies with the number of live replicas and the time.
 */
const beat = `${commonLua}
local replicas, replica, aliveMs = nextKey(), nextText(), nextNumber()
if aliveMs == 0 then redis.call('ZREM', replicas, replica) else redis.call('ZADD', replicas, now + aliveMs, replica) end
redis.call('ZREMRANGEBYSCORE', replicas, '-inf', now)
redis.call('PEXPIRE', replicas, 86400000)
return redis.call('ZCARD', replicas) .. ' ' .. text(now)
`;

export const scripts = { admit, settle, renew, sum, correct, beat } as const;
export type ScriptName = keyof typeof scripts;
