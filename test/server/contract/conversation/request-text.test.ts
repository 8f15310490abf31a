import { expect, it } from 'vitest';
import { readRequestText } from '../../../../server/contract/conversation/request-text.ts';

const user = (...content: unknown[]) => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text', text: said });
const reminder = text('<system-reminder>\nToday is Monday.\n</system-reminder>');
const claudeSystem = [
  text('You are Claude Code.'),
  text(
    '<env>\nWorking directory: /home/ann/my app\nIs directory a git repo: Yes\n</env>\ngitStatus: …\nCurrent branch: fix/gate-17\n',
  ),
];
const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'done' });
const nothing = { opening: null, prompt: null, calls: [], folder: null, branch: null };

it.each<[what: string, body: unknown, said: object]>([
  [
    'Claude Code begins',
    { system: claudeSystem, messages: [user(reminder, text('Mend the gate.\n\nSoon.'))] },
    {
      opening: 'Mend the gate. Soon.',
      prompt: 'Mend the gate. Soon.',
      folder: '/home/ann/my app',
      branch: 'fix/gate-17',
    },
  ],
  [
    'Claude Code goes on with results',
    {
      messages: [
        user(text('Mend the gate.')),
        {
          role: 'assistant',
          content: [
            use('1', 'Bash', { description: 'All tests', command: 'npm\n test' }),
            use('2', 'Read', { limit: 3, file_path: '/a/b.ts' }),
            use('3', 'Odd', { count: 3 }),
          ],
        },
        user(result('1'), result('2'), result('3'), reminder),
      ],
    },
    {
      opening: 'Mend the gate.',
      calls: [
        { name: 'Bash', argument: 'npm test' },
        { name: 'Read', argument: '/a/b.ts' },
        { name: 'Odd', argument: null },
      ],
    },
  ],
  [
    'a command of Claude Code',
    {
      messages: [user(text('<command-message>init is running</command-message>\n<command-name>/init</command-name>'))],
    },
    { opening: '/init', prompt: '/init' },
  ],
  [
    'Codex',
    {
      instructions: 'You are Codex.',
      input: [
        user({
          type: 'input_text',
          text: '# AGENTS.md instructions for /srv/gate\n\n<INSTRUCTIONS>Be brief.</INSTRUCTIONS>',
        }),
        user({ type: 'input_text', text: '<environment_context>\n  <cwd>/srv/gate</cwd>\n</environment_context>' }),
        user({ type: 'input_text', text: 'Mend it' }),
        { type: 'function_call', call_id: 'c', name: 'shell', arguments: '{"command":["bash","-lc","ls -a"]}' },
        { type: 'function_call_output', call_id: 'c', output: 'x' },
      ],
    },
    { opening: 'Mend it', calls: [{ name: 'shell', argument: 'ls -a' }], folder: '/srv/gate' },
  ],
  [
    'Gemini',
    {
      contents: [
        { role: 'user', parts: [{ text: 'Look' }] },
        { role: 'model', parts: [{ functionCall: { name: 'glob', args: { pattern: '*.md' } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'glob', response: { output: 'a.md' } } }] },
      ],
    },
    { opening: 'Look', calls: [{ name: 'glob', argument: '*.md' }] },
  ],
  [
    'a second message of a person, and HTML in it',
    {
      messages: [
        user(text('One')),
        { role: 'assistant', content: 'Yes' },
        { role: 'user', content: 'Is <b>two</b> more?' },
      ],
    },
    { opening: 'One', prompt: 'Is <b>two</b> more?' },
  ],
  [
    'an element that is not closed',
    { messages: [user(text('Why is <my-tag> odd?'))] },
    { opening: 'Why is <my-tag> odd?', prompt: 'Why is <my-tag> odd?' },
  ],
  [
    'what a person says of a folder, which is not where the client works',
    { messages: [user(text('Working directory: /etc\nCurrent branch: x'))] },
    { opening: 'Working directory: /etc Current branch: x', prompt: 'Working directory: /etc Current branch: x' },
  ],
  ['a long text', { prompt: 'a '.repeat(5_000) }, { opening: `${'a '.repeat(99)}a…`, prompt: `${'a '.repeat(99)}a…` }],
  ['calls that the body does not hold', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, {}],
  ['no conversation', { model: 'x' }, {}],
  ['no object', [1], {}],
])('reads %s', (_what, body, said) => {
  expect(readRequestText(body, false)).toEqual({ ...nothing, ...said });
});

it('says nothing of the end of a body that is cut', () => {
  const body = { messages: [user(text('One')), { role: 'assistant', content: 'Yes' }, user(text('Two'))] };
  expect(readRequestText(body, true)).toEqual({ ...nothing, opening: 'One' });
});
