/** `sluice status` and `sluice stop`. */

import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { isBehindPublicAddress } from '../contract/address.ts';
import { localZone } from '../contract/calendar.ts';
import { GatewayError } from '../contract/errors.ts';
import { expiryConcern, type LimitMeter, needsAttention } from '../contract/limits.ts';
import {
  conditionFacts,
  conditionLine,
  conditionTexts,
  type ProviderTrouble,
  troublesOf,
} from '../contract/provider-condition.ts';
import type { ProviderView } from '../contract/provider-views.ts';
import type { QueryResults } from '../contract/queries.ts';
import type { SharedCountsProblem, SharedCountsView } from '../contract/replica-limits.ts';
import { type RefusalView, refusalsListedPerMinute } from '../contract/request-views.ts';
import type { LedgerHealthView, SetAsideView, StatusView } from '../contract/status-views.ts';
import { hourMs, mebibyte } from '../contract/units.ts';
import { claimFolder } from '../data-folder/claim-folder.ts';
import type { InstanceInfo } from '../data-folder/instance-lock.ts';
import { readEnvironment } from '../engine/environment.ts';
import { systemErrorCode } from '../ground/files/regular-file.ts';
import type { Control } from './control.ts';
import { describeFaults } from './faults.ts';
import type { Examples } from './help.ts';
import { showCurrency, sumText } from './money.ts';
import { createOutput, type Output } from './output.ts';
import { CliError, exitCodes } from './programs/exit-codes.ts';
import { isAdmin } from './role.ts';
import { fact, localTime, styled } from './shown.ts';
import type { Terminal } from './terminal.ts';
import type { Verbs } from './verb.ts';

export const statusExamples: Examples = {
  status: ['sluice status', 'sluice status --short', 'sluice status --json'],
  stop: ['sluice stop', 'sluice stop --data-dir ./data'],
};

export function addStatusVerb(program: Command, { on }: Verbs): void {
  const status = program
    .command('status')
    .description('show whether Sluice is running and what it serves; the exit code is 1 if it is not running')
    .option('--short', 'the state in five lines, as "sluice" alone shows it while it is running');
  on<{ short?: boolean }>(status, async ({ control, output, dataDir }, _, { short }) => {
    await showCurrency(control);
    if (short && control.origin !== null) return showShort(control, output);
    const [state, providers, running] = await Promise.all([
      control.query({ type: 'status' }),
      providersOf(control),
      countRunning(control),
    ]);
    const isRunning = control.origin !== null;
    if (!isRunning) process.exitCode = exitCodes.failure;
    const facts = isRunning ? describeRunning(state, running) : [`Sluice is not running on ${dataDir}.`];
    const described = providers === null ? [] : [`Providers:   ${describeProviders(providers)}`];
    output.show(
      { running: isRunning, ...state, runningRequests: running },
      [...facts, ...described, `Data:        ${dataDir}`].join('\n'),
    );
  });
}

/** Null for a person who may not see them. */
async function providersOf(control: Control): Promise<QueryResults['providers'] | null> {
  return (await isAdmin(control)) ? control.query({ type: 'providers' }) : null;
}

/** Where it listens, what it did today, what needs a person, and what to do next. */
async function showShort(control: Control, output: Output): Promise<void> {
  const [status, providers, keys, groups, refusals, days] = await Promise.all([
    control.query({ type: 'status' }),
    providersOf(control),
    control.query({ type: 'keys' }),
    control.query({ type: 'groups' }),
    recentRefusals(control),
    control.query({ type: 'usage', by: 'day', zone: localZone(), sinceMs: new Date().setHours(0, 0, 0, 0) }),
  ]);
  const today = days.at(-1) ?? null;
  const concerns = concernsOf({ status, providers, keys, groups, refusals });
  const next = concerns[0]?.next ?? (today === null ? 'sluice connect' : 'sluice log --follow');
  const counts = today === null ? 'none' : `${today.requests}, ${today.failed} failed, ${today.refused} refused`;
  const state = {
    listening: describeAddress(status),
    requestsToday: today?.requests ?? 0,
    costToday: today === null ? 0 : today.costUsd,
    attention: concerns.map(({ says }) => says),
    next,
  };
  output.show(state, [
    fact('listening', state.listening, 13),
    fact('requests', `${counts}, today`, 13),
    fact('cost', `${today === null ? '$0' : sumText(today)}, today`, 13),
    fact(
      'attention',
      concerns.length === 0 ? styled('good', 'nothing') : styled('warning', state.attention.join('; ')),
      13,
    ),
    fact('next', next, 13),
  ]);
}

interface Concern {
  says: string;
  /** The command that tells more of it, or ends it. */
  next: string;
}

interface ConcernViews {
  status: QueryResults['status'];
  /** Null if they may not be seen. */
  providers: QueryResults['providers'] | null;
  keys: QueryResults['keys'];
  groups: QueryResults['groups'];
  refusals: QueryResults['refusals'];
}

/** The worst first. */
function concernsOf({ status, providers, keys, groups, refusals }: ConcernViews): Concern[] {
  const nowMs = Date.now();
  const isReady = status.ledger.ok && status.ledger.dropped === 0;
  const spent = (of: 'key' | 'group', { id, limitUse }: { id: string; limitUse: readonly LimitMeter[] }) =>
    needsAttention(limitUse) ? [{ says: `the limits of ${of} "${id}"`, next: 'sluice usage --limits' }] : [];
  return [
    ...(isReady ? [] : [{ says: 'the request log', next: 'sluice doctor' }]),
    ...(providers ?? []).flatMap((provider) =>
      troublesOf(provider, nowMs).map((trouble) => ({
        says: describeTrouble(provider, trouble, nowMs),
        next: `sluice provider test ${provider.id}`,
      })),
    ),
    ...(providers === null || providers.some(({ isDemo }) => !isDemo)
      ? []
      : [{ says: 'there is no provider yet', next: 'sluice provider add' }]),
    ...keys.flatMap((key) => {
      const concern = expiryConcern(key, nowMs);
      return concern === null
        ? []
        : [
            {
              says: `key "${key.id}" ${concern === 'expired' ? 'has expired' : 'expires soon'}`,
              next: `sluice key show ${key.id}`,
            },
          ];
    }),
    ...keys.flatMap((key) => spent('key', key)),
    ...groups.flatMap((group) => spent('group', group)),
    ...(refusals.length === 0 ? [] : [{ says: 'requests without a valid key', next: 'sluice log' }]),
  ];
}

function describeTrouble(provider: ProviderView, { condition, credential }: ProviderTrouble, nowMs: number): string {
  if (credential === null)
    return `provider "${provider.id}": ${conditionLine(conditionFacts(provider, nowMs), conditionTexts)}`;
  return `provider "${provider.id}", credential "${credential.id}": ${conditionTexts.conditions[condition]}`;
}

/** Null if the ledger cannot be read. */
async function countRunning(control: Control): Promise<number | null> {
  try {
    const { requests } = await control.query({ type: 'requests', filter: { outcome: 'running' }, limit: 1000 });
    return requests.length;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'storage_unavailable') return null;
    throw error;
  }
}

function describeRunning(state: QueryResults['status'], running: number | null): string[] {
  return [
    `Sluice ${state.version} is running at ${describeAddress(state)} (${state.pid === 0 ? '' : `process ${state.pid}, `}since ${localTime(state.startedAt)}).`,
    `Requests:    ${running === null ? 'cannot be counted now' : `${running} running`}`,
    `Request log: ${describeLedger(state.ledger)}${describeCaptured(state)}`,
    ...(state.secretStore === '' ? [] : [`Secrets:     ${state.secretStore ?? 'not needed so far'}`]),
    ...(state.sharedCounts ? [`Limits:      ${describeSharedCounts(state.sharedCounts)}`] : []),
    ...state.faults.map(describeFaults),
  ];
}

/** The public address too, if there is one, since that is the one to give to clients. */
export function describeAddress(status: QueryResults['status']): string {
  const { baseUrl, listensAt } = status;
  return isBehindPublicAddress(status) ? `${baseUrl}, listening at ${listensAt}` : String(baseUrl);
}

function describeProviders(providers: QueryResults['providers']): string {
  const real = providers.filter(({ isDemo }) => !isDemo);
  if (real.length === 0) return providers.length > 0 ? 'the built-in demo' : 'none';
  return real
    .map((provider) => {
      const facts = conditionFacts(provider, Date.now());
      const isPlain = ['ready', 'untried', 'waiting'].includes(facts.condition);
      return isPlain ? provider.id : `${provider.id} (${conditionLine(facts, conditionTexts)})`;
    })
    .join(', ');
}

/** For a Sluice that does not say how long its end may take, such as the desktop: longer than that waits for requests. */
const usualEndMs = 15_000;
/** Added because a busy machine delays the end. */
const marginMs = 5_000;
/** Most ends take less, so that nothing is said about them. */
const silentMs = 1_000;
const pollMs = 50;

interface StopOptions {
  dataDir?: string;
  json?: boolean;
}

export function addStop(program: Command, terminal: Terminal): void {
  const stop = program
    .command('stop')
    .description('stop the running Sluice when its requests have ended, or after its grace period')
    .option('--data-dir <folder>', 'the data folder')
    .option('--json', 'print JSON');
  stop.action(async () => {
    const options = stop.opts<StopOptions>();
    const output = createOutput(terminal, options.json ?? false);
    const dataDir = options.dataDir ?? readEnvironment(terminal.env).dataDir;
    const claim = await claimFolder(dataDir);
    if (!('holder' in claim)) {
      await claim.lock.release();
      throw new CliError(`Sluice is not running on ${dataDir}.`);
    }
    const { pid } = claim.holder;
    await endProcess(claim.holder, output);
    output.show({ stopped: pid }, `Sluice (process ${pid}) has ended.`);
  });
}

/** On Windows, which has no SIGTERM, the process ends immediately. */
async function endProcess({ pid, longestEndMs = usualEndMs }: InstanceInfo, output: Output): Promise<void> {
  const limitMs = longestEndMs + marginMs;
  try {
    process.kill(pid, 'SIGTERM');
    for (let waitedMs = 0; waitedMs < limitMs; waitedMs += pollMs) {
      if (waitedMs === silentMs)
        output.note(`Waiting for the running requests of process ${pid}, ${longestEndMs / 1000} s at the longest.`);
      await wait(pollMs);
      process.kill(pid, 0);
    }
  } catch (error) {
    if (systemErrorCode(error) === 'ESRCH') return;
    throw new CliError(`Process ${pid} cannot be ended: ${error instanceof Error ? error.message : String(error)}.`);
  }
  throw new CliError(`Process ${pid} has not ended within ${limitMs / 1000} seconds.`);
}

/** Whether requests are recorded, as text for a person. */
export function describeLedger({ ok, lastError, pending, spooled, dropped, setAside }: LedgerHealthView): string {
  const lost = `${dropped > 0 ? `, ${rows(dropped)} lost` : ''}${setAside ? `, ${describeSetAside(setAside)}` : ''}`;
  if (ok) return `working${lost}`;
  const onDisk = spooled > 0 ? `, ${spooled} of them on disk` : '';
  return `cannot be written: ${lastError ?? 'unknown'}; ${rows(pending)} waiting${onDisk}${lost}`;
}

/** How much room the captures take, after `describeLedger`; empty while there are none. */
export function describeCaptured({ ledger, settings }: Pick<StatusView, 'ledger' | 'settings'>): string {
  const { capturedBytes = 0 } = ledger;
  if (capturedBytes === 0) return '';
  const inMebibytes = (bytes: number) => (bytes / mebibyte).toFixed(1);
  return `; captures take ${inMebibytes(capturedBytes)} of ${inMebibytes(settings.capture.totalBytes)} MiB`;
}

function describeSetAside({ rows: count, file }: SetAsideView): string {
  return `${rows(count)} refused by the database and set aside${file === null ? '' : ` in ${file}`}`;
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}

const problems: Record<SharedCountsProblem, string> = {
  unreachable: 'it cannot be reached',
  slow: 'it does not answer in time',
  'read-only': 'it cannot be written to',
  'out-of-memory': 'its memory is full',
  'credential-refused': 'it refuses user or password',
  'not-permitted': 'its user may not run scripts',
  'not-ready': 'it is not ready',
};

/** Where limits are counted, as text for a person. */
export function describeSharedCounts({ address, problem, sinceMs, replicas }: SharedCountsView): string {
  const count = `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`;
  if (problem === null) return `counted together by ${count} at ${address}`;
  const share = replicas === 1 ? 'this replica counts alone' : `each of ${count} allows its share`;
  return `${address} cannot be used since ${localTime(sinceMs)}: ${problems[problem]}; ${share}`;
}

/**
 * Refused requests that appear in no list of requests. They reveal programs with a wrong key, or in a loop over a limit.
 *
 * None for a person who may not see them.
 */
export async function recentRefusals(control: Control): Promise<RefusalView[]> {
  if (!(await isAdmin(control))) return [];
  return control.query({ type: 'refusals', sinceMs: Date.now() - hourMs });
}

export function describeRefusal({ keyId, reason, requests, lastAt, lastClient }: RefusalView): string {
  const from = lastClient === null ? '' : ` from "${lastClient}"`;
  const last = `the last ${localTime(lastAt)}${from}.`;
  return keyId === null
    ? `Refused without a valid key in the last hour: ${requests} (${reason}), ${last}`
    : `Refused over a limit in the last hour, with key ${keyId}, besides ${refusalsListedPerMinute} that are listed each minute: ${requests} (${reason}), ${last}`;
}
