/** What says that this machine, not a provider or a client, has run out of something. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { constants, devNull } from 'node:os';

/** Descriptors of the process and of the machine, buffers, memory, and local ports. */
const codes = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'] as const;
const numbers: ReadonlySet<number> = new Set(codes.map((code) => constants.errno[code]));
const shortages: ReadonlySet<string> = new Set(codes);
/**
 * The call that looks up a name. glibc does not tell that it could not open its files or a socket: the code is ENOTFOUND or
 * EAI_AGAIN, or whatever its last module left behind (EBUSY from nss-mdns, which Debian's desktops ask first).
 */
export const lookUp = 'getaddrinfo';
/** With fewer descriptors left, a look-up may have failed for want of them. */
const fewDescriptors = 16;

interface SystemError extends Error {
  code?: unknown;
  errno?: unknown;
  syscall?: unknown;
  address?: unknown;
}

export function isResourceExhaustion(error: unknown): boolean {
  // Happy Eyeballs has an error for each address of the host.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isResourceExhaustion);
  if (!(error instanceof Error)) return false;
  const { code, errno, syscall, address, cause }: SystemError = error;
  if (code === 'EADDRNOTAVAIL') return !isIpv6(address);
  const text = String(code);
  if (shortages.has(text)) return true;
  if (syscall === lookUp) return isShortOfDescriptors();
  // libuv passes some numbers on with the wrong sign, so that Node does not know their names: `uv_interface_addresses`.
  if (text === 'ERR_SYSTEM_ERROR') return typeof errno === 'number' && numbers.has(Math.abs(errno));
  if (text === 'ERR_WORKER_INIT_FAILED') return codes.some((each) => error.message.includes(each));
  return cause !== undefined && isResourceExhaustion(cause);
}

/** On a machine without IPv6, each connection to an IPv6 address fails so, however many ports are left. */
function isIpv6(address: unknown): boolean {
  return typeof address === 'string' && address.includes(':');
}

/** The system gives the lowest number that is free. */
function isShortOfDescriptors(): boolean {
  try {
    const descriptor = openSync(devNull, 'r');
    closeSync(descriptor);
    return descriptor >= (descriptorLimit() ?? Number.POSITIVE_INFINITY) - fewDescriptors;
  } catch (error) {
    return error instanceof Error && isResourceExhaustion(error);
  }
}

let known: { limit: number | null } | undefined;

/** How many descriptors this process may have; null if the system sets no limit. Read once: Node raises it at its start. */
export function descriptorLimit(): number | null {
  known ??= { limit: readLimit() };
  return known.limit;
}

/** Linux tells it in a file, macOS in Node's report. Windows has none. */
function readLimit(): number | null {
  if (process.platform === 'win32') return null;
  try {
    return process.platform === 'linux'
      ? limitIn(readFileSync('/proc/self/limits', 'utf8'))
      : limitOf(process.report.getReport());
  } catch {
    return null;
  }
}

/** In the text of /proc/self/limits. */
export function limitIn(limits: string): number | null {
  const [, descriptors] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return descriptors === undefined ? null : Number(descriptors);
}

/** In a report of Node, where it is a number or `unlimited`. */
export function limitOf(report: object): number | null {
  const soft = memberOf(memberOf(memberOf(report, 'userLimits'), 'open_files'), 'soft');
  return typeof soft === 'number' ? soft : null;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}
