/**
 * A child process in which keytar runs. keytar works on libuv's four shared threads, and a Secret Service that is
 * locked or half dead can hold one for ever: the program could then not even exit, because exit waits for them.
 * A child can be killed. It starts with the first call and ends by itself when nothing was asked for a while, so that
 * an idle program does not pay its memory.
 */
import { type ChildProcess, fork } from 'node:child_process';

/** The calls of keytar that are used. */
type Verb = 'getPassword' | 'setPassword' | 'deletePassword' | 'findCredentials';

/** Given to the child as text, so that it is there in a bundled program too. A lost parent ends it, even in mid-call. */
const childSource = `
let keytar, problem
try { keytar = require(process.argv[1]) } catch (error) { problem = 'keytar does not load: ' + error.message.split('\\n')[0] }
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', async ({ id, verb, parameters }) => {
  try {
    if (problem) throw new Error(problem)
    process.send({ id, result: await keytar[verb](...parameters) })
  } catch (error) {
    process.send({ id, problem: error.message })
  }
})`;

const idleMs = 5_000;

interface Reply {
  id: number;
  result?: unknown;
  problem?: string;
}
interface Call {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Makes one call of keytar and answers what it answered; rejects with a plain reason, after `limitMs` at the latest. */
export type KeytarProcess = (verb: Verb, parameters: string[], limitMs: number) => Promise<unknown>;

/** @param keytarPath absolute path of keytar's main file */
export function createKeytarProcess(keytarPath: string): KeytarProcess {
  const calls = new Map<number, Call>();
  let child: ChildProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  const settle = (id: number, settleCall: (call: Call) => void) => {
    const call = calls.get(id);
    if (!call) return;
    calls.delete(id);
    clearTimeout(call.timer);
    settleCall(call);
    if (calls.size === 0) idle = setTimeout(stop, idleMs).unref();
  };
  const stop = (reason = 'the keychain helper was stopped') => {
    child?.kill('SIGKILL');
    child = undefined;
    for (const id of [...calls.keys()]) settle(id, (call) => call.reject(new Error(reason)));
    clearTimeout(idle);
  };
  const start = () => {
    // `fork` and not `spawn`: inside Electron only `fork` runs the binary as Node.
    const started = fork(keytarPath, [], {
      execArgv: ['-e', childSource],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    started.on('message', (reply: Reply) => {
      settle(reply.id, (call) =>
        reply.problem === undefined ? call.resolve(reply.result) : call.reject(new Error(reply.problem)),
      );
    });
    const ended = (reason: string) => started === child && stop(reason);
    started.on('error', () => ended('the keychain helper could not be started'));
    started.on('exit', () => ended('the keychain helper ended unexpectedly'));
    // Only a waiting call (its timer) keeps the program alive.
    started.unref();
    started.channel?.unref();
    return started;
  };

  return (verb, parameters, limitMs) => {
    clearTimeout(idle);
    child ??= start();
    const id = ++lastId;
    const answered = new Promise((resolve, reject) => {
      const timer = setTimeout(() => stop(`it did not answer within ${limitMs / 1000} s`), limitMs);
      calls.set(id, { resolve, reject, timer });
    });
    child.send({ id, verb, parameters }, (error) => error && settle(id, (call) => call.reject(error)));
    return answered;
  };
}
