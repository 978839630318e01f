import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionReturning, defineActions, makeProject } from './project.ts'
import { diagnose } from './diagnose.ts'

test('reading process.env is warned of where it is read, and nowhere else', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      "[process.env.STOCK_URL, `${'ü'}${process.env['A'] ?? ''}`, globalThis.process.env, \"process.env.TEXT\"]",
      '// not process.env.COMMENT\n/* nor process.env */ const { env: all, pid } = process',
    ),
    'src/b.ts': actionReturning('process.env.B', "import process from 'node:process'"),
    'src/c.ts': actionReturning('env.C', "import { pid, env } from 'process'"),
    'src/d.ts': actionReturning(
      '[process.pid, context.env]',
      "import process from 'node:process'\nconst context = { env: 1 }",
    ),
    'src/e.ts': actionReturning(
      'read()',
      "import { read } from '../lib/read.ts'\nimport { pack } from 'pack'\nvoid pack",
    ),
    'lib/read.ts':
      'export const read = (process: { env: string }) => process.env\nexport const all = () => process\n  .env.E\n',
    'migrations/System/1.ts': 'export default { async up() { process.env.M } }\n',
    'node_modules/pack/package.json': '{ "name": "pack", "type": "module", "exports": "./index.js" }',
    'node_modules/pack/index.js': 'export const pack = process.env.PACK\n',
  })
  const files = ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts', 'src/e.ts']
  const found = await diagnose(project.root, defineActions(...files))
  assert.deepEqual(
    found.map(({ file, range: { start }, source, range }) =>
      [`${file}:${start.line}:${start.column}`, source?.slice(start.column - 1, range.end.column - 1)].join(' '),
    ),
    [
      'lib/read.ts:2:26 ', // the expression continues on the next line
      'src/a.ts:2:29 ',
      'src/a.ts:5:13 process.env.STOCK_URL',
      'src/a.ts:5:45 process.env',
      'src/a.ts:5:71 globalThis.process.env',
      'src/b.ts:4:12 process.env.B',
      'src/c.ts:1:1 ',
    ],
  )
  assert.ok(found.every(({ severity, code }) => severity === 'warning' && code === 'WP_BUILD_PROCESS_ENV'))
})

test('timers, pools and servers that a module opens while it is loaded are warnings, unless it closes them', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      '1',
      `import pg from 'pg'\nexport const pool: object = new pg.Pool({ max: 1 })\n// setInterval(tick)\nfunction tick() {\n  setTimeout(tick, 1)\n}\nsetInterval(tick, 1000)`,
    ),
    'src/b.ts': actionReturning(
      '2',
      `import { onClose } from 'waypost'\nconst timer = setInterval(() => {}, 1000)\nonClose(() => clearInterval(timer))`,
    ),
    'src/c.ts': actionReturning(
      'later()',
      `const later = () => setTimeout(() => {}, 1)\nconst text = \`\nsetInterval\``,
    ),
    'node_modules/pg/package.json': '{ "name": "pg", "type": "module", "exports": "./index.js" }',
    'node_modules/pg/index.js': 'export default { Pool: class {} }\nsetInterval(() => {}, 1)\n',
  })
  const found = await diagnose(project.root, defineActions('src/a.ts', 'src/b.ts', 'src/c.ts'))
  assert.deepEqual(
    found.map(
      ({ file, severity, code, range: { start }, message }) =>
        `${file}:${start.line}:${start.column} ${severity} ${code} ${message.split(' runs')[0]}`,
    ),
    [
      'src/a.ts:2:29 warning WP_BUILD_MODULE_RESOURCE new pg.Pool',
      'src/a.ts:7:1 warning WP_BUILD_MODULE_RESOURCE setInterval',
    ],
  )
})

test('code that asks for its own path is a warning, in packages at the import that leads to it', async () => {
  await using project = await makeProject({
    'src/a.ts': actionReturning(
      '[read(), pure, unused]',
      `import { read, pure } from 'reads'\nimport guarded from 'guarded'\nconst unused = guarded`,
    ),
    'src/b.ts': actionReturning(
      '[__dirname, import.meta.dirname, new URL("./b.ts", import.meta.url).href, "__filename"]',
      '// __dirname',
    ),
    'node_modules/reads/package.json': '{ "name": "reads", "main": "index.js" }',
    'node_modules/reads/index.js': `const fs = require("fs")\nexports.pure = "__dirname"\nexports.read = () => fs.readFileSync(__dirname + "/data.txt")\nexports.again = () => require.resolve("./data.txt")\n`,
    'node_modules/guarded/index.js': 'module.exports = typeof __dirname === "undefined" ? "" : __dirname\n',
    'node_modules/shaken/index.js': 'export const used = 1\nexport const gone = () => import.meta.dirname\n',
    'node_modules/shaken/package.json': '{ "type": "module", "sideEffects": false, "exports": "./index.js" }',
    'src/c.ts': actionReturning(
      '[used, Promise.resolve("./a"), resolves.file]',
      `import { used } from 'shaken'\nimport resolves from 'resolves'`,
    ),
    'node_modules/resolves/package.json': '{ "name": "resolves", "main": "index.js" }',
    'node_modules/resolves/index.js': `const own = ["./worker.js"]\nexports.file = require.resolve("./worker.js", own)\n`,
    'src/d.ts': actionReturning('bundled()', `import { bundled } from 'bundled'`),
    'node_modules/bundled/package.json': '{ "name": "bundled", "type": "module", "exports": "./dist/index.js" }',
    'node_modules/bundled/dist/index.js': `export const bundled = () => __dirname;\n//# sourceMappingURL=index.js.map\n`,
    'node_modules/bundled/dist/index.js.map': JSON.stringify({
      version: 3,
      sources: ['../lib/fonts.js'],
      sourcesContent: ['export const bundled = () => __dirname;'],
      names: [],
      mappings: 'AAAA,OAAO,MAAM,OAAO,GAAG,MAAM,SAAS',
    }),
  })
  const found = await diagnose(project.root, defineActions('src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts'))
  assert.deepEqual(
    found.map(
      ({ file, code, severity, message, range: { start } }) =>
        `${file}:${start.line}:${start.column} ${severity} ${code} ${message.split(', which')[0]}`,
    ),
    [
      'src/a.ts:1:28 warning WP_BUILD_PACKAGE_PATH The package "reads" reads files at its own path (__dirname in node_modules/reads/index.js:3)',
      'src/b.ts:4:13 warning WP_BUILD_OWN_PATH "__dirname" is not defined in a release',
      'src/b.ts:4:24 warning WP_BUILD_OWN_PATH "import.meta.dirname" is not defined in a release',
      'src/c.ts:2:22 warning WP_BUILD_PACKAGE_PATH The package "resolves" reads files at its own path (require.resolve in node_modules/resolves/index.js:2)',
      'src/d.ts:1:25 warning WP_BUILD_PACKAGE_PATH The package "bundled" reads files at its own path (__dirname in node_modules/bundled/lib/fonts.js:1)',
    ],
  )
})
