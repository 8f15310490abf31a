import type { GatewayError } from '../../contract/errors.ts';
import type { Api, ListedModel } from '../core/api.ts';
import { presentedKeys } from '../core/requests/client-credentials.ts';
import { decodeSegment } from '../core/requests/segments.ts';
import { betterPath, isSpokenIn, locateGemini, locateShared } from './locate.ts';
import { geminiRoutes, isPassedOfModel, passthroughPath } from './routes.ts';
import { geminiErrorStatus, writeGeminiError } from './write-error.ts';

/** Google's Gemini API. Its clients are configured with Sluice's address without a version. */
export const geminiApi: Api = {
  name: 'gemini',
  base: '/v1beta',
  routes: geminiRoutes,
  models: { askedIn, writeList: (models) => ({ models: models.map(writeOne) }), writeOne },
  usagePath: null,
  passthroughPath,
  helloPath: null,
  locate: locateGemini,
  isSpokenIn,
  locateShared,
  betterPath,
  readKeys: presentedKeys,
  writeError: (error) => writeGeminiError(wordsOf(error)),
  statusOf: (error) => geminiErrorStatus(wordsOf(error)),
  errorType: 'application/json; charset=UTF-8',
  errorHeaders: () => ({}),
  requestIdHeader: 'x-request-id',
};

function askedIn(path: string): string | null {
  if (path === '/models') return '';
  if (path.startsWith('/models/{model}:') || isPassedOfModel(path)) return null;
  return path.startsWith('/models/') ? decodeSegment(path.slice('/models/'.length)) : null;
}

/** Omits the token limits, which clients would mistake for the model's actual ones. The list has a single page. */
function writeOne({ id, created }: ListedModel) {
  return {
    name: id.startsWith('tunedModels/') ? id : `models/${id}`,
    version: String(created),
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  };
}

/** Google's API answers a request without a key with 403, and one with a wrong key with 400. */
function wordsOf({ message, kind, code, retryAfterSeconds }: GatewayError) {
  return {
    message,
    type: kind.type,
    code: code === 'missing_key' ? 'permission_denied' : kind.code,
    status: kind.status,
    retryAfterSeconds,
  };
}
