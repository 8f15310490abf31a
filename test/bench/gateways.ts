/** Runs a gateway from its start, which is timed, to its end. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/eventually.ts';
import { type GatewayName, type GatewaySetting, type Launch, launchOf } from './launches.ts';
import type { Job, JobResult } from './load.ts';
import { endProcess, rssMb, startProgram } from './measuring.ts';
import { type Address, buildRequest, clientKey, expectedBody } from './payloads.ts';

/** No job should take a quarter of this. */
const jobLimitMs = 60_000;

interface LoadEnds {
  upstreamPort: number;
  /** Runs one job; jobs must not overlap. */
  load(job: Job): Promise<JobResult>;
}

/** Starts the upstream and the load generator, which end with this process. */
export async function startLoadEnds(): Promise<LoadEnds> {
  const [upstream, generator] = [startEnd('upstream.ts'), startEnd('load.ts')];
  const [[upstreamPort]] = await Promise.all([answerOf(upstream), answerOf(generator)]);
  return {
    upstreamPort: Number(upstreamPort),
    async load(job) {
      const answered = answerOf(generator);
      generator.send(job);
      const [result] = await answered;
      return result as JobResult;
    },
  };
}

function startEnd(file: string): ChildProcess {
  const command = [process.execPath, join(import.meta.dirname, file)];
  return startProgram(command, 'load', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

/** Resolves with the child's next message. Rejects if the child ends before, or takes too long. */
async function answerOf(child: ChildProcess): Promise<unknown[]> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(jobLimitMs)]);
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a child of the bench ended with ${code}`);
  });
  try {
    return await Promise.race([once(child, 'message', { signal }), ended]);
  } finally {
    ended.catch(() => {});
    over.abort();
  }
}

export interface RunningGateway {
  name: GatewayName;
  pid: number;
  address: Address;
  /** The data folder of a Sluice. */
  dataDir: string;
  /** From spawning the process to the first successful chat answer. */
  firstAnswerMs: number;
  /** Memory shortly after the first answer. */
  idleRssMb: number;
  stop(): Promise<void>;
}

const settleMs = 500;
/** Far from what any of them needs, even where other programs keep the machine busy. */
const startLimitMs = 90_000;

export async function startGateway(name: GatewayName, setting: GatewaySetting): Promise<RunningGateway> {
  const folder = mkdtempSync(join(setting.scratch, `${name}-`));
  const launch = await launchOf(name, setting, folder);
  const output = openSync(join(folder, 'output.txt'), 'a');
  const startedMs = performance.now();
  const stdout = launch.port === undefined ? 'pipe' : output;
  const child = startProgram(launch.command, 'gateway', { env: launch.env, stdio: ['ignore', stdout, output] });
  const port = await readyPort(name, launch, child, folder);
  const address = { port, headers: launch.headers };
  await askOnce(name, address);
  const firstAnswerMs = performance.now() - startedMs;
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const pid = child.pid ?? 0;
  return {
    name,
    pid,
    address,
    dataDir: join(folder, 'data'),
    firstAnswerMs,
    idleRssMb: rssMb(pid),
    stop: () => endProcess(child),
  };
}

/** Reads the line with the port. A program with a given port is ready once it accepts a connection. */
function readyPort(name: GatewayName, launch: Launch, child: ChildProcess, folder: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      const said = readFileSync(join(folder, 'output.txt'), 'utf8').trim();
      reject(new Error(said ? `${name} ${why}: ${said}` : `${name} ${why}`));
    };
    const timer = setTimeout(() => fail(`was not ready within ${startLimitMs} ms`), startLimitMs);
    const found = (port: number) => {
      clearTimeout(timer);
      resolve(port);
    };
    child.once('error', (error) => fail(`cannot be started (${error.message})`));
    child.once('exit', (code) => fail(`ended with ${code}`));
    const { port } = launch;
    if (port !== undefined) eventually(() => accepts(port)).then(() => found(port), reject);
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const announced = /"event":"ready".*?"baseUrl":"http:\/\/[^"]*:(\d+)\/v1"/.exec(line)?.[1];
      if (announced) found(Number(announced));
    });
  });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function askOnce(name: GatewayName, address: Address): Promise<void> {
  const request = buildRequest('short', address);
  const body = request.subarray(request.indexOf('\r\n\r\n') + 4);
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const headers = { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json', ...address.headers };
    const asked = http.request({
      port: address.port,
      host: '127.0.0.1',
      path: '/v1/chat/completions',
      method: 'POST',
      headers,
    });
    asked.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)));
    });
    asked.on('error', reject);
    asked.end(body);
  });
  if (!answer.equals(expectedBody('short')))
    throw new Error(`${name} answers wrongly: ${answer.toString().slice(0, 300)}`);
}
