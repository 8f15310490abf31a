/**
 * Measures the cost of Sluice in one run together with a bare pipe, a plain Express proxy, nginx if it is installed,
 * and Portkey, which is installed from npm: `npm run bench`. The CPU time per request and the ratios are reliable.
 * Requests per second and the slowest percent depend on what else the machine does.
 *
 *   --rounds N      number of measurements (default 3); the tables show medians
 *   --phases A,B    only these of: start, latency, plain, paced, full, translated, upload, growth, window,
 *                   desktop (the last two need Chromium)
 *   --without A,B   leaves out of the comparison: express, nginx, portkey
 *   --quick         one short round, as a functional check
 *   --json FILE     writes the figures of every round
 *   --program FILE  the Sluice to measure, if not the built one: another build, or `server/cli.ts` unbuilt
 *   --profile DIR   every gateway writes a CPU profile there as it ends; figures are then higher
 *
 * Exits with 0 whatever the figures are, and with 1 if something broke or an answer was wrong.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway, startLoadEnds } from './gateways.ts';
import type { GatewayName, GatewaySetting } from './launches.ts';
import { type Bench, canMeasure, isPinned, warmUp } from './measuring.ts';
import { phases } from './phases.ts';
import { report } from './report.ts';
import { Samples } from './samples.ts';
import { thirdPartyNames, whyMissing } from './third-party.ts';

const root = join(import.meta.dirname, '../..');
const quickScale = 0.05;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    phases: { type: 'string', default: Object.keys(phases).join(',') },
    without: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    program: { type: 'string' },
    profile: { type: 'string' },
  },
});

const startedMs = performance.now();
const rounds = options.quick ? 1 : Number(options.rounds);
const chosen = options.phases.split(',').map((name) => {
  const run = phases[name];
  if (!run) throw new Error(`There is no phase "${name}"; there are ${Object.keys(phases).join(', ')}.`);
  return run;
});
const scratch = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const ends = await startLoadEnds();
const setting: GatewaySetting = {
  upstreamPort: ends.upstreamPort,
  scratch,
  program: options.program ?? builtProgram(),
  profileFolder: options.profile,
  ledgerRows: options.quick ? 20_000 : 1_000_000,
};
const samples = new Samples();
const leftOut: string[] = [];
let compared: readonly GatewayName[] | undefined;
const shared = new Map<string, RunningGateway>();
const bench: Bench = {
  samples,
  round: 0,
  upstreamPort: ends.upstreamPort,
  scale: options.quick ? quickScale : 1,
  load: ends.load,
  compared: () => (compared ??= findCompared()),
  start: (name) => startGateway(name, setting),
  async running(name, use = 'any') {
    const known = shared.get(`${name} ${use}`);
    if (known) return known;
    const gateway = await startGateway(name, setting);
    shared.set(`${name} ${use}`, gateway);
    await warmUp(bench, gateway, use);
    return gateway;
  },
};

for (; bench.round < rounds; bench.round++) {
  for (const run of chosen) await run(bench);
  console.error(
    `round ${bench.round + 1} of ${rounds} done after ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`,
  );
}
for (const gateway of shared.values()) await gateway.stop();

console.log(`${introduction()}\n\n${report(samples)}\n\n${errorLine()}`);
if (options.json) {
  const { values, errors } = samples;
  writeFileSync(
    options.json,
    JSON.stringify({ node: process.version, rounds, isPinned, errors, figures: values }, null, 2),
  );
}
process.exit(Object.keys(samples.errors).length > 0 ? 1 : 0);

/** Called by the first phase that compares them, so that other phases install nothing. */
function findCompared(): GatewayName[] {
  const unwanted = options.without.split(',');
  const isWanted = (name: string) => !unwanted.includes(name);
  const found = thirdPartyNames.filter(isWanted).filter((name) => {
    const reason = whyMissing(name);
    if (reason !== undefined) leftOut.push(`${name} is left out: ${reason}.`);
    return reason === undefined;
  });
  return ['pipe', ...(['express'] as const).filter(isWanted), 'sluice', ...found];
}

/** Rebuilds the program if its sources have changed. */
function builtProgram(): string {
  const launch = join(root, 'build/launch.ts');
  const { status } = spawnSync(process.execPath, [launch, '--version'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('Sluice could not be built.');
  return join(root, 'dist/program/cli.js');
}

function introduction(): string {
  const where = isPinned
    ? 'Gateways have one CPU, the load generator and the upstream another.'
    : 'Nothing is pinned to a CPU here, so the figures are less steady.';
  const cpu = canMeasure ? '' : ' CPU time and memory cannot be measured here: there is no /proc.';
  return [`Medians of ${rounds} interleaved round(s), Node ${process.version}. ${where}${cpu}`, ...leftOut].join('\n');
}

function errorLine(): string {
  const wrong = Object.entries(samples.errors).map(([name, count]) => `${name} ${count}`);
  return `Wrong or broken answers: ${wrong.length > 0 ? wrong.join(', ') : 'none'}.`;
}
