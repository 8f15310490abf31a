/** What chat services refuse, as a section of docs/dialects.md. */

import type { ChatFlavour, RefusedMembers } from '../../../../../server/apis/core/chat-flavour.ts';
import { presets } from '../../../../../server/providers/presets.ts';
import { flavouredServices } from '../../../../support/flavoured-chat.ts';

const preface = `## Chat services that refuse some of it

Many services speak OpenAI's chat API with exceptions. A service that is known to refuse a member, by the preset or the address of the
provider, gets requests without it, or with the name or value that it takes instead. That is all that changes in the body of a chat client: every other
byte stays as it was. It is reported like any other loss (\`x-sluice-dropped: messages[2].reasoning_content;why=provider-refuses\`), and with
\`x-sluice-lossy: refuse\` the request is answered with 400. What no source says to be refused is left in. Reasoning
that a service wants back and a client does not return is added: that of a call as it was when the call passed (kept for 24 hours, per key), or as the
message has it under \`reasoning\`, and otherwise an empty text. A service that is not listed here is left
with the bytes of the client.

| | left out | written in another way |
|---|---|---|`;

export function flavourSection(): string {
  const rows = flavouredServices.map(({ preset, model, flavour }) => {
    const name = presets.find(({ id }) => id === preset)?.name ?? preset;
    const shown =
      model === 'gpt-5'
        ? `${name}, Azure OpenAI: reasoning models`
        : isThinking(model)
          ? `${name}: models that think`
          : name;
    return `| ${[shown, leftOut(flavour).join(', '), rewritten(flavour).join(', ')].join(' | ')} |`;
  });
  return [preface, ...rows, ''].join('\n');
}

const isThinking = (model: string) => model !== 'some-model';

function leftOut({ request, messages, functions }: ChatFlavour): string[] {
  const names = (members: RefusedMembers, path: string) =>
    Object.entries(members).flatMap(([name, instead]) => (instead === null ? [`\`${path}${name}\``] : []));
  return [...names(request, ''), ...names(messages, 'messages[].'), ...names(functions, 'tools[].function.')];
}

function rewritten({ request, messages, roles, joinsTexts, wantsReasoning, signsCalls }: ChatFlavour): string[] {
  const names = (members: RefusedMembers, path: string) =>
    Object.entries(members).flatMap(([name, instead]) => (instead ? [`\`${path}${name}\` as \`${instead}\``] : []));
  const asRoles = Object.entries(roles).map(([role, instead]) => `the role \`${role}\` as \`${instead}\``);
  const texts = joinsTexts ? ['lists of texts in `messages[].content` as one string; lists with media stay'] : [];
  const whose = wantsReasoning === 'of all' ? 'assistant’s messages' : 'assistant’s messages with calls';
  const empty = wantsReasoning === 'of none' ? [] : [`\`reasoning_content\` in the ${whose} that lack it`];
  const unsigned = signsCalls
    ? [`Google’s placeholder in \`${signsCalls}\` of the assistant’s messages with calls that lack a signature`]
    : [];
  return [...names(request, ''), ...names(messages, 'messages[].'), ...asRoles, ...texts, ...empty, ...unsigned];
}
