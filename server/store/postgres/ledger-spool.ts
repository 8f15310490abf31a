/**
 * Keeps batches of the ledger in this replica's data folder while the database is unavailable. They are ordered,
 * limited in size, and survive a restart. The rows of a batch are in one file and its captures in another, because
 * captures are much larger and are dropped first. Rows are stored in their in-memory form, so the next version of the
 * program must be able to read them: a field that it adds may be missing.
 */
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { temporaryInfix, writeFileDurably } from '../../ground/files/durable-file.ts';
import { describeFileProblem, systemErrorCode } from '../../ground/files/regular-file.ts';
import { createSerialQueue } from '../../ground/promises.ts';
import { messageOf } from '../rules/failures.ts';
import type { Capture } from '../sqlite/capture-rows.ts';
import type { Batch } from './ledger-writer.ts';

interface Options {
  /** Created when needed; only this user can read it. */
  folder: string;
  /** A UUID of this run of this replica. */
  replica: string;
  log: { warn(fields: object, message: string): void };
  /** Limit for all files together. Default 256 MiB. */
  maxBytes?: number;
}

const defaultMaxBytes = 256 * 1024 * 1024;
/** `000000000012-UUID.345.rows`, with the position and the number of rows. */
const namePattern = /^(\d{12})-([\da-f-]{36})\.(\d+)\.rows$/;

interface Entry {
  id: string;
  /** Path of the batch's files, without `.rows` or `.captures`. */
  path: string;
  rows: number;
  rowBytes: number;
  /** 0 if there are no captures (any more). */
  captureBytes: number;
}

export class LedgerSpool {
  readonly #options: Options;
  readonly #maxBytes: number;
  readonly #entries: Entry[];
  readonly #inOrder = createSerialQueue();
  #position: number;
  /** Why the last batch could not be added. */
  #problem: string | null = null;
  #lostRows = 0;
  #lostCaptures = 0;

  private constructor(options: Options, entries: Entry[], position: number) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? defaultMaxBytes;
    this.#entries = entries;
    this.#position = position;
  }

  /** Opens the spool with the batches of an earlier run. It is empty if the folder cannot be read. */
  static async open(options: Options): Promise<LedgerSpool> {
    const { folder, log } = options;
    const entries: Entry[] = [];
    let position = 0;
    try {
      for (const name of (await readdir(folder)).sort()) {
        if (name.includes(temporaryInfix)) await rm(join(folder, name));
        const [, number, id = '', rows] = namePattern.exec(name) ?? [];
        if (number === undefined) continue;
        const path = join(folder, name.slice(0, -'.rows'.length));
        const [rowBytes, captureBytes] = await Promise.all([sizeOf(`${path}.rows`), sizeOf(`${path}.captures`)]);
        entries.push({ id, path, rows: Number(rows), rowBytes, captureBytes });
        position = Number(number);
      }
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT')
        log.warn({ error: messageOf(error), folder }, 'the requests that wait on disk cannot be read');
    }
    return new LedgerSpool(options, entries, position);
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** The number of rows that wait on disk. */
  get rows(): number {
    return this.#entries.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** The number of rows in files that could not be read since the start. */
  get lostRows(): number {
    return this.#lostRows;
  }

  has({ id }: Pick<Batch, 'id'>): boolean {
    return this.#entries.some((entry) => entry.id === id);
  }

  /** Appends a batch. Resolves with false, without any change, if there is no room for its rows. Never rejects. */
  add(batch: Batch): Promise<boolean> {
    return this.#inOrder(() => this.#add(batch));
  }

  /**
   * The first batch, or null if there is none. Batches whose file cannot be read are dropped, and their rows counted as
   * lost. Never rejects.
   */
  oldest(): Promise<Batch | null> {
    return this.#inOrder(async () => {
      for (let [first] = this.#entries; first; [first] = this.#entries) {
        const batch = await this.#read(first);
        if (batch) return batch;
        this.#entries.shift();
        this.#lostRows += first.rows;
      }
      return null;
    });
  }

  /** Removes a batch that is written. Never rejects. */
  remove({ id }: Pick<Batch, 'id'>): Promise<void> {
    return this.#inOrder(async () => {
      const index = this.#entries.findIndex((entry) => entry.id === id);
      const [entry] = index === -1 ? [] : this.#entries.splice(index, 1);
      if (!entry) return;
      // If a file remains, it is written again at the next start; its rows still count once.
      for (const kind of ['captures', 'rows']) await rm(`${entry.path}.${kind}`, { force: true }).catch(() => {});
    });
  }

  async #add({ id, rows, captures = [], ...rest }: Batch): Promise<boolean> {
    const { folder, replica } = this.#options;
    try {
      const content = serialize({ replica, ...rest, rows });
      await this.#makeRoom(content.length);
      if (this.#bytes + content.length > this.#maxBytes) return this.#refuse('its share of the disk is used');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${String(++this.#position).padStart(12, '0')}-${id}.${rows.length}`);
      await writeFileDurably(`${path}.rows`, content);
      const entry = { id, path, rows: rows.length, rowBytes: content.length, captureBytes: 0 };
      this.#entries.push(entry);
      entry.captureBytes = await this.#addCaptures(path, captures);
      this.#problem = null;
      return true;
    } catch (error) {
      return this.#refuse(describeFileProblem(error));
    }
  }

  /** Logged once, because adding is retried every second. */
  #refuse(problem: string): false {
    const { folder, log } = this.#options;
    if (problem !== this.#problem) log.warn({ error: problem, folder }, 'no more requests can wait on disk');
    this.#problem = problem;
    return false;
  }

  /** Resolves with the number of bytes written. */
  async #addCaptures(path: string, captures: readonly Capture[]): Promise<number> {
    if (captures.length === 0) return 0;
    const content = serialize(captures);
    try {
      if (this.#bytes + content.length <= this.#maxBytes) {
        await writeFileDurably(`${path}.captures`, content);
        return content.length;
      }
    } catch {
      // The rows are stored, and they matter more.
    }
    this.#noteLostCaptures();
    return 0;
  }

  async #read({ id, path, captureBytes }: Entry): Promise<Batch | null> {
    try {
      const batch: Omit<Batch, 'id'> = deserialize(await readFile(`${path}.rows`));
      const captures: Capture[] = captureBytes > 0 ? deserialize(await readFile(`${path}.captures`)) : [];
      return { ...batch, id, captures };
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error), path }, 'requests that wait on disk cannot be read');
      return null;
    }
  }

  get #bytes(): number {
    return this.#entries.reduce((sum, { rowBytes, captureBytes }) => sum + rowBytes + captureBytes, 0);
  }

  /** Deletes captures until there is room, the oldest first. */
  async #makeRoom(neededBytes: number): Promise<void> {
    for (const entry of this.#entries) {
      if (entry.captureBytes === 0) continue;
      if (this.#bytes + neededBytes <= this.#maxBytes) return;
      await rm(`${entry.path}.captures`, { force: true });
      entry.captureBytes = 0;
      this.#noteLostCaptures();
    }
  }

  #noteLostCaptures(): void {
    if (this.#lostCaptures++ > 0) return;
    const { folder, log } = this.#options;
    log.warn({ folder }, 'captured texts are lost, since no more may wait on disk');
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
