import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before } from 'node:test'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { checkout } from '../support/cli.ts'
import { until } from '../support/until.ts'

export const files = {
  'waypost.yml': `config:
  docs: \${env.DOCS}
env:
  STEP: { type: integer, default: 1 }
schema: !include schema.yml
routes:
  /value: !include value.yml
  /count: { methods: { GET: { public: true, response: Value, action: src/count.ts } } }
  /step: { methods: { GET: { public: true, response: Value, action: src/step.ts } } }
  /page: { methods: { GET: { public: true, response: { type: object, additionalProperties: { type: string } }, action: src/page.ts } } }
  /slow: { methods: { GET: { public: true, response: Value, action: src/slow.ts } } }
`,
  'schema.yml': 'Value:\n  type: object\n  properties: { value: { type: integer } }\n',
  'value.yml': 'methods: { GET: { public: true, response: Value, action: src/value.ts } }\n',
  'src/value.ts': `import { base } from './base.ts'\nexport default class Value {\n  handle() {\n    return { value: base + 1, extra: 'no' }\n  }\n}\n`,
  'src/step.ts':
    'export default class Step {\n  handle(_, context) {\n    return { value: context.env.STEP }\n  }\n}\n',
  'src/base.ts': 'export const base = 0\n',
  'src/count.ts':
    'export default class Count {\n  count = 0\n  handle() {\n    this.count += 1\n    return { value: this.count }\n  }\n}\n',
  'src/slow.ts': `export default class Slow {
  async handle() {
    await globalThis.holdSlow?.()
    return { value: 1 }
  }
}
`,
  'src/page.ts': `import { readFile } from 'node:fs/promises'
export default class Page {
  async handle() {
    return { text: await readFile(new URL('../pages/page.html', import.meta.url), 'utf8') }
  }
}
`,
  'src/unused.ts': 'export const count = 1;\n',
  'pages/page.html': 'one',
  '.env': 'DOCS=public\n',
}

interface Report {
  readonly what: string
  readonly about: Readonly<Record<string, unknown>>
}

/** A project that `dev` serves to the tests of one suite. */
export function useDevFolder() {
  let root: string
  /** A package beside the project, relative to it. */
  let linked: string
  let server: DevServer
  let reports: Report[] = []
  /** The files that the current save writes. */
  let saved: string[] = []
  let atStart: readonly Report[] = []

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'waypost-hot-'))
    linked = `../${path.basename(root)}-linked`
    for (const [file, text] of Object.entries(files)) await write(file, text)
    await mkdir(path.join(root, 'node_modules'))
    await symlink(checkout, path.join(root, 'node_modules/waypost'))
    await write(`${linked}/package.json`, '{ "name": "linked", "type": "module", "exports": "./src/linked.ts" }')
    await write(`${linked}/src/linked.ts`, "export { linked } from './value.ts'\n")
    await write(`${linked}/src/value.ts`, 'export const linked = 0\n')
    await symlink(path.join(root, linked), path.join(root, 'node_modules/linked'))
    await write('.waypost/types.d.ts', '// of another branch\n')
    const console = new Proxy({} as DevConsole, {
      get: (_, what: string) => (about: Record<string, unknown>) => {
        if (what !== 'answered') reports.push({ what, about })
      },
    })
    const { DOCS: _, STEP: __, ...environment } = process.env
    const variables = { ...environment, DOCS: 'public' }
    const envFiles = ['.env', '.env.local', '.env.development', '.env.development.local']
    server = await dev({ folder: root, variables, envFiles, port: 0, deliver: false, console })
    await server.reload() // after the check for saves during the start
    atStart = reports
    reports = []
  })
  after(async () => {
    await server.close()
    await rm(root, { recursive: true })
    await rm(path.join(root, linked), { recursive: true })
  })

  /** Replaces the file, so that the watcher reports one change. */
  async function write(file: string, text: string): Promise<void> {
    saved.push(file)
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(`${root}.new`, text)
    await rename(`${root}.new`, path.join(root, file))
  }
  const edit = async (file: string, from: string, to: string) => {
    const text = await readFile(path.join(root, file), 'utf8')
    assert.ok(text.includes(from), `"${from}" does not stand in ${file}`)
    await write(file, text.replace(from, to))
  }
  async function ask(route: string): Promise<{ status: number; body: { value?: unknown; openapi?: string } }> {
    const response = await fetch(`${server.started.url}${route}`)
    return { status: response.status, body: (await response.json()) as object }
  }
  const valueOf = async (route: string) => (await ask(route)).body.value

  const shows = (route: string, value: unknown) =>
    until(`${route} shows ${String(value)}`, async () => (await valueOf(route)) === value)

  /** Returns a summary of the reports since the last call. */
  function takeReports(): string[] {
    const taken = reports
    reports = []
    return taken.map(({ what, about }) => {
      const {
        files: names,
        diagnostics,
        isFixed,
      } = about as {
        files?: string[]
        diagnostics?: { code: string }[]
        isFixed?: boolean
      }
      return [what, ...(names ?? []), ...(diagnostics ?? []).map(({ code }) => code), isFixed ? 'fixed' : '']
        .join(' ')
        .trim()
    })
  }

  /** Saves one file and waits for its report. The save before may be reported twice. */
  async function save(work: () => Promise<void>): Promise<void> {
    const before = reports.length
    saved = []
    await work()
    const isOfSave = ({ what, about }: Report) =>
      what !== 'warned' &&
      (saved.length === 0 || (about['files'] as string[] | undefined)?.some((file) => saved.includes(file)) === true)
    await until('a save is reported', () => reports.slice(before).some(isOfSave))
  }

  /** Waits until all saves are reported: several may be reported together, and some not at all. */
  async function waitForReports(): Promise<void> {
    const before = reports.length
    await edit('src/unused.ts', ';', ';;')
    const isLast = ({ about }: Report) => (about['files'] as string[] | undefined)?.includes('src/unused.ts')
    await until('the last save is reported', () => reports.slice(before).some(isLast))
  }
  return {
    get root() {
      return root
    },
    get linked() {
      return linked
    },
    get server() {
      return server
    },
    /** The reports until the first project was served. */
    get atStart() {
      return atStart
    },
    get reports() {
      return reports
    },
    set reports(value) {
      reports = value
    },
    write,
    edit,
    ask,
    valueOf,
    shows,
    takeReports,
    save,
    waitForReports,
  }
}
