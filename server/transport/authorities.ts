/**
 * Trusted certificate authorities: Node's built-in list, the operating system's, and configured files. Reads them for the
 * first encrypted connection rather than at startup, and again after `forget`.
 */
import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import tls, { type SecureContext } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { describeFileProblem, readRegularFileSync } from '../ground/files/regular-file.ts';

interface AuthoritySettings {
  /** Include the operating system's list. */
  system: boolean;
  /** PEM files. */
  files: readonly string[];
}

interface AuthorityFile {
  path: string;
  /** Number of certificates in the file. */
  certificates: number;
  /** Why the file is not used; null if it is. */
  problem: string | null;
}

interface AuthoritiesView {
  files: AuthorityFile[];
  /** Number of certificates in the operating system's list; null if it is not used. `problem` says why it cannot be. */
  system: number | null;
  problem: string | null;
}

export interface Authorities {
  /** Null: only Node's built-in list applies. */
  secureContext(): Promise<SecureContext | null>;
  /** Makes the next connection read them again. */
  forget(): void;
  /** Changes when one of the files changes. */
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
    const fileCertificates = files.flatMap((path) => readAuthorityFile(path).pem);
    const list = withSystem ? (await systemList()).certificates : [];
    if (fileCertificates.length === 0 && list.length === 0) return null;
    return tls.createSecureContext({
      ca: [...new Set([...tls.getCACertificates('default'), ...list, ...fileCertificates])],
    });
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

/** A missing file must not stop Sluice; connections that need it fail with a TLS error that names the issuer. */
function readAuthorityFile(path: string): { pem: string[]; view: AuthorityFile } {
  try {
    const pem = readRegularFileSync(path);
    const certificates = pem.match(certificatePem) ?? [];
    if (certificates.length === 0) return unusedFile(path, 'it holds no certificate in PEM form');
    // Throws if it is invalid: OpenSSL would ignore it silently.
    for (const each of certificates) new X509Certificate(each);
    return { pem: certificates, view: { path, certificates: certificates.length, problem: null } };
  } catch (error) {
    return unusedFile(path, describeFileProblem(error));
  }
}

function unusedFile(path: string, problem: string): { pem: string[]; view: AuthorityFile } {
  return { pem: [], view: { path, certificates: 0, problem } };
}

function timeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

/** Runs in a worker thread, since reading takes between tenths of a second and seconds. */
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
