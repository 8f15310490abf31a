/**
 * Whose certificates are trusted: Node's own list, that of the operating system, and files that a person names. Owns
 * reading them: when the first encrypted connection is made, not at the start, and again after `forget`.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import tls, { type SecureContext } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { describeFileProblem } from '../files/file-problem.ts';

interface AuthoritySettings {
  /** The operating system's own list counts too. */
  system: boolean;
  /** PEM files. */
  files: readonly string[];
}

interface AuthorityFile {
  path: string;
  /** How many it holds. */
  certificates: number;
  /** Why it is not used; null if it is. */
  problem: string | null;
}

interface AuthoritiesView {
  files: AuthorityFile[];
  /** Of the operating system's list; null if it is not used, `problem` says why it cannot be. */
  system: number | null;
  problem: string | null;
}

export interface Authorities {
  /** Null: what Node trusts by itself is all. */
  secureContext(): Promise<SecureContext | null>;
  /** They are read anew for the next connection. */
  forget(): void;
  /** Changes when one of the files does. */
  fingerprint(): string;
  view(): Promise<AuthoritiesView>;
}

interface SystemList {
  certificates: readonly string[];
  problem: string | null;
}

export function createAuthorities(settings: () => AuthoritySettings): Authorities {
  let system: Promise<SystemList> | undefined;
  let context: Promise<SecureContext | null> | undefined;
  const systemList = () => {
    system ??= readSystemList();
    return system;
  };
  const makeContext = async () => {
    const { system: withSystem, files } = settings();
    const own = files.flatMap((path) => readAuthorityFile(path).pem);
    const list = withSystem ? (await systemList()).certificates : [];
    if (own.length === 0 && list.length === 0) return null;
    return tls.createSecureContext({ ca: [...new Set([...tls.getCACertificates('default'), ...list, ...own])] });
  };
  return {
    secureContext() {
      if (!context) {
        const making = makeContext();
        context = making;
        making.catch(() => {
          if (context === making) context = undefined;
        });
      }
      return context;
    },
    forget() {
      system = undefined;
      context = undefined;
    },
    fingerprint: () => settings().files.map(timeOf).join(' '),
    async view() {
      const { system: withSystem, files } = settings();
      const list = withSystem ? await systemList() : null;
      return {
        files: files.map((path) => readAuthorityFile(path).view),
        system: list && list.problem === null ? list.certificates.length : null,
        problem: list?.problem ?? null,
      };
    },
  };
}

const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A file that is gone must not keep Sluice from serving; whoever needs it is told by TLS, with the issuer's name. */
function readAuthorityFile(path: string): { pem: string[]; view: AuthorityFile } {
  try {
    const pem = readFileSync(path, 'utf8');
    const certificates = pem.match(certificatePem) ?? [];
    if (certificates.length === 0) return unused(path, 'it holds no certificate in PEM form');
    // Throws where it is none: OpenSSL would pass over it without a word.
    for (const each of certificates) new X509Certificate(each);
    return { pem: certificates, view: { path, certificates: certificates.length, problem: null } };
  } catch (error) {
    return unused(path, describeFileProblem(error));
  }
}

function unused(path: string, problem: string): { pem: string[]; view: AuthorityFile } {
  return { pem: [], view: { path, certificates: 0, problem } };
}

function timeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

/** Reading it takes from tenths of a second to seconds, which nothing else should wait for: a thread of its own does it. */
const readInThread = `
  const { parentPort } = require('node:worker_threads');
  parentPort.postMessage(require('node:tls').getCACertificates('system'));`;

function readSystemList(): Promise<SystemList> {
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ certificates: [], problem: error.message });
    try {
      const thread = new Worker(readInThread, { eval: true });
      thread.unref();
      thread.once('message', (certificates: string[]) => resolve({ certificates, problem: null }));
      thread.once('error', failed);
      thread.once('exit', (code) => failed(new Error(`the system's list could not be read (${code})`)));
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
