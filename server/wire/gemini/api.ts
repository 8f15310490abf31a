import type { GatewayError } from '../../contract/errors.ts';
import type { Api, ListedModel } from '../api.ts';
import { presentedKeys } from '../client-credentials.ts';
import { decodeSegment } from '../segments.ts';
import { locateGemini } from './locate.ts';
import { passedPath } from './passthrough.ts';
import { geminiRoutes } from './routes.ts';
import { geminiErrorStatus, writeGeminiError } from './write-error.ts';

/** Google's Gemini API. Its clients are given Sluice's address without a version. */
export const gemini: Api = {
  name: 'gemini',
  base: '/v1beta',
  routes: geminiRoutes,
  models: { askedIn, writeList: (models) => ({ models: models.map(writeOne) }), writeOne },
  usagePath: null,
  passedPath,
  helloPath: null,
  locate: locateGemini,
  betterPath: () => null,
  readKeys: presentedKeys,
  writeError: (error) => writeGeminiError(wordsOf(error)),
  statusOf: (error) => geminiErrorStatus(wordsOf(error)),
  errorType: 'application/json; charset=UTF-8',
  errorHeaders: () => ({}),
  requestIdHeader: 'x-request-id',
};

function askedIn(path: string): string | null {
  if (path === '/models') return '';
  if (path.startsWith('/models/{model}:')) return null;
  return path.startsWith('/models/') ? decodeSegment(path.slice('/models/'.length)) : null;
}

/** All of them on one page. The limits are left out, since clients take a number for the model's own. */
function writeOne({ id, created }: ListedModel) {
  return {
    name: id.startsWith('tunedModels/') ? id : `models/${id}`,
    version: String(created),
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  };
}

/** Google's API answers a request without a key with the status 403, and one with a wrong key with 400. */
function wordsOf({ message, kind, code, retryAfterSeconds }: GatewayError) {
  return {
    message,
    type: kind.type,
    code: code === 'missing_key' ? 'permission_denied' : kind.code,
    status: kind.status,
    retryAfterSeconds,
  };
}
