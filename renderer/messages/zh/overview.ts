import { causeTextZh } from '../../../server/contract/causes.ts';
import type { SharedCountsProblem } from '../../../server/contract/replica-limits.ts';
import type * as english from '../en/overview.ts';

export const status: typeof english.status = {
  baseUrl: 'Base URL',
  started: '启动',
  revisionNumber: (revision) => `修订版 ${revision}`,
  secretsUnopened: '尚未用到',
  ledger: '请求记录',
  ledgerOk: '正常记录',
  ledgerDropped: (_rows, count) => `丢失 ${count} 行`,
  ledgerBroken: '未在记录',
  ledgerWaits: '暂存在磁盘上，待数据库恢复后写入',
};

export const live: typeof english.live = {
  title: '当前',
  running: '运行中',
  tokens: 'Token/秒',
  tokensHint: '最近 20 秒内每秒输出的 token 数。请求的 token 数在其结束时才能得知。',
  today: '今日花费',
  callers: '正在调用',
  nobody: '无',
  more: (count) => `另有 ${count} 个`,
};

export const overview: typeof english.overview = {
  month: (cost) => `本月 ${cost}`,
  monthForecast: (cost, expected) => `本月 ${cost}，按此速度月底约 ${expected}`,
  range: '时间',
  ranges: { hour: '1 小时', sixHours: '6 小时', day: '24 小时', week: '7 天', month: '30 天', quarter: '90 天' },
  usage: '用量',
  metrics: { requests: '请求', tokens: 'Token 数', cost: '费用', errors: '失败率', firstByte: '首字节' },
  showRequests: '查看请求',
  tokensDetail: (input, output) => `输入 ${input}，输出 ${output}`,
  failed: (failures, requests) => `${requests} 个中有 ${failures} 个失败`,
  refused: (requests) => `另有 ${requests} 个被拒绝，不计入`,
  p95Detail: (duration) => `95% 在 ${duration}内`,
  median: '中位数',
  p95: '第 95 百分位',
  firstByteFigures: { together: '全部', median: '各自的中位数', p95: '各自的 95%' },
  all: '全部',
  sum: '合计',
  others: '其他',
  nameless: { model: '未指定模型', provider: '未请求服务商', key: '无有效密钥', group: '无分组' },
  top: '使用最多',
  by: '统计维度',
  dimensions: { model: '模型', provider: '服务商', key: '密钥', group: '分组' },
  dimensionNames: { model: '模型', provider: '服务商', key: '密钥', group: '分组' },
  columns: { requests: '请求', failed: '失败', refused: '被拒绝', tokens: 'Token', cost: '费用' },
  unpriced: (requests) => `${requests} 个费用未知`,
  nobody: '这段时间没有用量。',
  emptyTitle: '这段时间没有请求',
  emptyNext: '请选择更长的时间，或让程序使用上面的 Base URL。',
  runningTitle: (_requests, count) => `${count} 个请求正在运行`,
  runningNext: '请求结束后会显示数据。',
};

export const firstRun: typeof english.firstRun = {
  title: '快速开始',
  doneTitle: '一切就绪',
  dismiss: '跳过',
  finish: '完成',
  progress: (done, all) => `已完成 ${done}/${all}`,
  progressTitle: (done, all) => `快速开始：已完成 ${done} / ${all} 步`,
  done: '已完成',
  address: '你的 Base URL 和密钥',
  addressText: '任何支持 OpenAI、Anthropic 或 Gemini API 的程序都可以使用。',
  key: 'API 密钥',
  showKey: '显示密钥',
  hideKey: '隐藏密钥',
  call: '发起一次调用',
  callText: '在这里运行，或粘贴到终端。添加服务商之前，由内置演示返回示例回答。',
  ownCallText: '在此运行，或粘贴到终端中。',
  provider: '添加服务商',
  providerText: 'OpenAI、Anthropic、Ollama 或其他服务，让真实的模型来回答。',
  providerOpen: '全部服务…',
  providerAddress: '用地址添加…',
  found: (variables) => `在环境变量中找到：${variables}`,
  tool: '接入工具',
  toolText: 'Codex、Cursor、Claude Code 或你自己的程序。它得到第一个回答后，此步骤即完成；手动或脚本的调用不算。',
  toolOpen: '其他工具…',
};

export const firstCall: typeof english.firstCall = {
  createKey: '新建密钥',
  firstKeyName: '我的第一个密钥',
  command: 'curl 命令',
  run: '在此运行',
  answer: '回答',
  seeRequest: '查看请求',
  keyless: '此密钥未保存，无法显示。请新建一个密钥。',
};

export const demoNote: typeof english.demoNote = {
  text: '当前使用内置演示（示例回答）。',
  add: '添加服务商以获得真实回答',
};

const countsProblems: Record<SharedCountsProblem, string> = {
  unreachable: '无法连接',
  slow: '响应超时',
  'read-only': '处于只读状态',
  'out-of-memory': '内存已满',
  'credential-refused': '拒绝了凭据',
  'not-permitted': '不允许此用户运行脚本',
  'not-ready': '尚未就绪',
};

export const attention: typeof english.attention = {
  title: '需要处理',
  showAll: (total) => `显示全部 ${total} 项`,
  left: (count) => `另有 ${count} 个密钥和分组需要处理。`,
  texts: {
    provider: (name, condition, why) => `服务商 ${name}：${condition}。${why}`,
    credential: (name, credential, condition, why) => `${name} 的凭据“${credential}”：${condition}。${why}`,
    'config-restored': (movedTo) =>
      movedTo === null
        ? '上次启动时配置文件缺失，已从备份恢复。请检查密钥和设置是否仍然正确。'
        : `上次启动时配置文件已损坏，已从备份恢复。请检查密钥和设置是否仍然正确。损坏的文件保留为 ${movedTo}。`,
    'config-lost': (movedTo) =>
      movedTo === null
        ? '上次启动时配置文件缺失，且没有可用的备份：Sluice 以空配置启动。'
        : `上次启动时配置文件已损坏，且没有可用的备份：Sluice 以空配置启动。损坏的文件保留为 ${movedTo}。`,
    'counts-away': ({ address, problem, replicas }, since, isClosed) =>
      `限额未能共享：${address} ${countsProblems[problem ?? 'unreachable']}（始于 ${since}）。` +
      `${replicas === 1 ? '此副本单独计数' : `${replicas} 个副本各自使用限额的均等份额`}；` +
      `${isClosed ? '受硬性预算约束的请求会被拒绝。' : '硬性预算同样均分。'}`,
    'ledger-broken': (reason) => `请求未被记录。${causeTextZh(reason)}`,
    'ledger-waits': (rows, reason) =>
      `数据库无法写入，恢复之前请求暂存在此副本的磁盘上（已有 ${rows} 个）。${causeTextZh(reason)}`,
    'ledger-dropped': (rows) => `有 ${rows} 个请求未能记录。`,
    'ledger-refuses': (rows, file) =>
      `数据库拒绝记录 ${rows} 个请求，其用量仍计入预算。${file === null ? '' : `见 ${file}。`}`,
    'ledger-replaced': (reason, movedTo) =>
      movedTo === null
        ? `请求记录已重新建立：${causeTextZh(reason)}。原有内容已丢失。`
        : `请求记录无法使用（${causeTextZh(reason)}），已重新建立。原文件保留为 ${movedTo}。`,
    'budgets-unwritten': (reason) => `无法保存预算的已用数额。${causeTextZh(reason)}`,
    'budgets-lost': '预算的已用数额已随请求记录一同丢失：所有预算（包括硬性预算）均从那时起重新计算。',
    refused: (requests) => `最近一小时内被拒绝且未列入请求记录：${requests}。`,
    standstill: (duration, at, request) =>
      `Sluice 曾停顿 ${duration}（${at}），起因是密钥 ${request.keyId} 的请求 ${request.id}（${request.route}），期间没有响应任何请求。`,
    'key-expired': (name) => `密钥“${name}”已过期，使用它的程序会被拒绝。`,
    'key-expires': (name, day) => `密钥“${name}”将于 ${day}到期。`,
    'key-budget': (name, used, amount) => `密钥“${name}”的预算 ${amount} 已用 ${used}。`,
    'group-budget': (name, used, amount) => `分组“${name}”的预算 ${amount} 已用 ${used}。`,
    'key-unpriced': ({ name, count, budget }) => `密钥“${name}”有 ${count} 个请求价格未知，未计入其预算（${budget}）。`,
    'group-unpriced': ({ name, count, budget }) =>
      `分组“${name}”有 ${count} 个请求价格未知，未计入其预算（${budget}）。`,
    'no-provider': '没有启用任何服务商，所有请求都会被拒绝。',
    'no-key': '没有密钥，任何程序都无法使用 Sluice。',
  },
  fixes: {
    provider: '查看服务商',
    credential: '查看凭据',
    'config-restored': '查看设置',
    'config-lost': '查看设置',
    'counts-away': '查看设置',
    'ledger-broken': '查看请求',
    'ledger-waits': '查看请求',
    'ledger-dropped': '查看请求',
    'ledger-refuses': '查看请求',
    'ledger-replaced': '查看请求',
    'budgets-unwritten': '查看密钥',
    'budgets-lost': '查看密钥',
    refused: '查看请求',
    standstill: '查看请求',
    'key-expired': '查看密钥',
    'key-expires': '查看密钥',
    'key-budget': '查看密钥',
    'group-budget': '查看分组',
    'key-unpriced': '设置价格',
    'group-unpriced': '设置价格',
    'no-provider': '添加服务商',
    'no-key': '新建密钥',
  },
};

export const recentCapture: typeof english.recentCapture = {
  question: '保留发送和返回的内容？',
  questionText: '这样可以在请求记录中查看。内容只留在本机，不含密钥。',
  untilAnswered: '在你回答之前，最新 50 个请求保存在内存中。',
  keepDays: (_days, count) => `保留 ${count} 天`,
  keepNewest: '最新 50 个，仅在内存中',
  keepNothing: '暂不保留',
  note: '最新 50 个请求的内容保存在内存中，直到 Sluice 退出；只有捕获的内容才保存到磁盘。',
  end: '关闭',
  endNamed: '关闭：不在内存中保留内容',
  kept: (_days, count) => `发送和返回的内容在本机保留 ${count} 天。`,
  notKept: '不保留发送和返回的内容。',
  change: '更改',
  changeNamed: '更改保留的内容',
};
