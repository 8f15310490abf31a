import type * as english from '../en/connect.ts';

export const keyChooser: typeof english.keyChooser = {
  key: '密钥',
  model: '模型',
  none: '没有可用的密钥',
  secret: '密钥内容',
  notKept: '它未被保存，无法显示：请粘贴。离开此页面后即被遗忘。',
  showEntered: '显示已输入的内容',
};

export const connect: typeof english.connect = {
  lead: '先选密钥和模型，再选客户端：步骤会自动填好。',
  showSecret: '在步骤中填入密钥内容',
  hideSecret: '移除密钥内容',
  clients: '客户端',
  kinds: { programs: '终端与库', coding: '编辑器与智能体', apps: '应用' },
  stepsOf: (client) => `${client} 的步骤`,
  snippetOf: (client) => `${client} 的片段`,

  test: '从此处测试',
  testPassed: (_models, count, duration) => `可用：此密钥可使用 ${count} 个模型（${duration}）。`,
  testRefused: (status, message) => `被拒绝（${status}）：${message}`,
  testUnreachable: '网关没有响应。',

  arrived: (ago) => `它的请求${ago}已到达。`,
  arrivedByKey: (ago, client) =>
    client === null ? `此密钥${ago}被使用。` : `此密钥${ago}被使用，使用者自称“${client}”。`,
  arrivedAndRefused: (ago) => `它的请求于${ago}到达，但被拒绝。`,
  waiting: '尚未收到它的请求。一旦到达，这里会显示。',
  waitingByKey: '此密钥尚未被使用。一旦使用，这里会显示。',
  hasArrived: '已发来请求',
  notTold: '它的请求不表明来源，因此以密钥为准。',

  steps: {
    runInTerminal: '在终端中：',
    install: '安装：',
    write: '在您的程序中：',
    orEnvironment: '或者写入它启动时的环境变量：',
    startInEnvironment: '在环境变量中带上密钥启动：',
    putInto: (file) => `写入 ${file}：`,
    mergeInto: (file) => `添加到 ${file}：`,
    open: (place) => `打开 ${place}`,
    runPalette: (command) => `在命令面板中运行“${command}”。`,
    fillIn: '填写：',
    addModel: '选择模型，或按名称添加：',
    anyOther: '其他任何 OpenAI API 客户端只需要这些：',
    orLiteLlmProxy: '或者写入 LiteLLM 代理的 config.yaml：',
    codexResponses: 'Codex 使用 Responses API。如果提供方只有 Chat Completions，Sluice 会进行转换。',
    claudePlainName: '使用 Claude 模型时请填写其原名：如果回答中的模型名与请求的不同，Claude Code 会丢弃其思考内容。',
    qwenProxy: '如果设置了 HTTPS_PROXY，请在此处取消：否则 Qwen Code 访问本机时也会经过该代理。',
    cursorReach:
      'Cursor 从它自己的服务器发送请求，无法到达您机器上的地址。只有当 Base URL 能从外部访问（例如您自己的隧道）时才可用；其地址还必须加入“设置”中允许的主机名。',
    zedKey: 'Zed 从该提供方的设置页或环境变量读取密钥：',
    contextGuess: '令牌上限只是估计值，请填入您所用模型的数值。',
    copilotVersion: '需要 VS Code 1.122 或更高版本，其中包含“Custom Endpoint”提供方。',
    jetbrainsOlder: '较旧的版本位于“Models & API keys”的“Third-party AI providers”下。',
    fromContainer:
      '在容器中运行？请用 host.docker.internal 代替 127.0.0.1，并把该名称加入“设置”中允许的主机名。在 Linux 上，容器需要使用宿主机网络（--network=host）。',
  },
};
