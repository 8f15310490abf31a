/** Sends the data of OpenTelemetry's SDK to an OTLP/HTTP endpoint, over Sluice's own transport, including proxies. */
import { setTimeout as wait } from 'node:timers/promises';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ISerializer } from '@opentelemetry/otlp-transformer';
import { readResponse } from '../transport/read-response.ts';
import type { Transport } from '../transport/transport.ts';

export interface OtlpTarget {
  transport: Transport;
  /** Includes the signal's path, such as `http://127.0.0.1:4318/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  contentType: 'application/json' | 'application/x-protobuf';
  /** Waits before each retry, in milliseconds. */
  retryDelaysMs?: readonly number[];
  /** Reports a failure once, and again only after a success. */
  failed(url: string, reason: string): void;
}

const timeouts = { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 15_000 };
const maxAnswerBytes = 64 * 1024;
/** See the OTLP specification, "Retryable Response Codes". */
const retryable = new Set([429, 502, 503, 504]);
const usualDelaysMs = [1_000, 5_000];

/** One instance per signal. `Item` is the type that the SDK's processor or reader passes. */
export class OtlpExporter<Item> {
  readonly #target: OtlpTarget;
  readonly #serializer: Pick<ISerializer<Item, unknown>, 'serializeRequest'>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #isFailing = false;

  constructor(target: OtlpTarget, serializer: Pick<ISerializer<Item, unknown>, 'serializeRequest'>) {
    this.#target = target;
    this.#serializer = serializer;
  }

  export(items: Item, done: (result: ExportResult) => void): void {
    const sending = this.#send(items).then(
      () => {
        this.#isFailing = false;
        done({ code: ExportResultCode.SUCCESS });
      },
      (thrown: unknown) => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        if (!this.#isFailing) this.#target.failed(this.#target.url, error.message);
        this.#isFailing = true;
        done({ code: ExportResultCode.FAILED, error });
      },
    );
    this.#running.add(sending);
    void sending.finally(() => this.#running.delete(sending));
  }

  async forceFlush(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Finishes running exports; nothing is retried. */
  async shutdown(): Promise<void> {
    this.#stopping.abort();
    await this.forceFlush();
  }

  async #send(items: Item): Promise<void> {
    const body = this.#serializer.serializeRequest(items);
    if (!body) return;
    const { retryDelaysMs = usualDelaysMs } = this.#target;
    for (const delayMs of retryDelaysMs) {
      const outcome = await this.#post(body).catch((error: unknown) => ({ error, mayRetry: true }));
      if (outcome === null) return;
      if (!outcome.mayRetry || this.#stopping.signal.aborted) throw outcome.error;
      const { signal } = this.#stopping;
      await wait(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    const last = await this.#post(body);
    if (last !== null) throw last.error;
  }

  /** Null if accepted. Rejects with a TransportError. */
  async #post(body: Uint8Array): Promise<{ error: Error; mayRetry: boolean } | null> {
    const { transport, url, headers, contentType } = this.#target;
    const { origin, pathname } = new URL(url);
    const request = {
      origin,
      method: 'POST',
      path: pathname,
      headers: { ...headers, 'content-type': contentType, 'content-length': String(body.length) },
      body: Buffer.from(body),
      timeouts,
      proxy: 'system',
    };
    const { status } = await readResponse(transport, request, maxAnswerBytes);
    if (status >= 200 && status < 300) return null;
    return { error: new Error(`the collector answered with status ${status}`), mayRetry: retryable.has(status) };
  }
}
