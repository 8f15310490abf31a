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
import { commonLua } from './script-parts.ts';

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
