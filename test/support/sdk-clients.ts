/** The official clients of the other APIs, connected to a test gateway with the test's key and without retries. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { type TestGateway, testKey } from './gateway.ts';

/** Sends the key as `x-api-key`. */
export function claudeAt({ origin }: TestGateway): Anthropic {
  return new Anthropic({ baseURL: origin, apiKey: testKey, maxRetries: 0 });
}

/** Sends the key as `x-goog-api-key`. */
export function geminiAt({ origin }: TestGateway): GoogleGenAI {
  return new GoogleGenAI({ apiKey: testKey, httpOptions: { baseUrl: origin } });
}
