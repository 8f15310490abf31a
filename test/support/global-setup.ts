/** What a run of Vitest sets up once for all test files, before the first and until after the last. */
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { launchBrowser } from './launch-browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that returns the address through which Playwright reaches the browser. */
    browserHost: string;
  }
}

/** Vitest's global setup; returns the teardown function. */
export default async function setUpRun(project: TestProject): Promise<() => Promise<void>> {
  // First, so that the browser's profile is there too.
  const removeFiles = keepTemporaryFilesInMemory();
  const endBrowser = await hostBrowser(project);
  return async () => {
    await endBrowser();
    removeFiles?.();
  };
}

/** Linux's file system in memory. */
const place = '/dev/shm';
const prefix = 'sluice-tests-';
/** Far more than a run needs. Docker gives a container 64 MB by default. */
const neededBytes = 2_000_000_000 * availableParallelism();

/**
 * Temporary files in memory. Most tests write a database, a configuration or a browser profile and soon remove it, and
 * waiting for the disk took longer than the tests themselves. Workers and their child processes inherit the variable.
 */
function keepTemporaryFilesInMemory(): (() => void) | undefined {
  if (!isFit()) return undefined;
  removeLeftovers();
  const folder = join(place, `${prefix}${process.pid}`);
  mkdirSync(folder);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  };
}

/**
 * Whether the tests can use this file system. It must not be `noexec`, because some tests run programs that they have
 * written. A database server uses it as another user.
 */
function isFit(): boolean {
  try {
    accessSync(place, constants.W_OK);
    const mount = readFileSync('/proc/mounts', 'utf8').match(/^\S+ \/dev\/shm tmpfs (\S+)/m);
    if (!mount?.[1] || mount[1].split(',').includes('noexec')) return false;
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize >= neededBytes && process.availableMemory() >= neededBytes;
  } catch {
    return false;
  }
}

/** Removes the folders of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(place)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * One Chromium for all test files of a run. Each file uses its own contexts. It is started on first use and ended after
 * the last file.
 */
async function hostBrowser(project: TestProject): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined;
  const host = createServer(async (_request, response) => {
    try {
      browser ??= launchBrowser();
      const running = await browser;
      // A browser that crashed is not reused for the next file.
      running.once('close', () => {
        browser = undefined;
      });
      response.end(running.wsEndpoint());
    } catch (error) {
      browser = undefined;
      response.writeHead(500).end(String(error));
    }
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  project.provide('browserHost', `http://127.0.0.1:${(host.address() as AddressInfo).port}`);
  return async () => {
    host.close();
    await (await browser)?.close();
  };
}
