import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionFile, openProjectServer } from '../support/project-server.ts'
import { until } from '../support/until.ts'

const yml = `
routes:
  /held: { methods: { GET: { public: true, action: src/held.ts } } }
  /other: { methods: { GET: { public: true, action: src/other.ts } } }
cronjob:
  tidy: { schedule: "0 4 1 1 *", action: src/tidy.ts }
`
const world = globalThis as { closedCode?: string[]; holdCode?: (() => Promise<void>) | undefined }

/** An action whose helper opens something for each version of the release. */
const helper = (version: string) => `import { onClose } from 'waypost'
export const opened = { isOpen: true, version: '${version}' }
setInterval(() => undefined, 3600000)
onClose(async () => {
  await null
  opened.isOpen = false
  closedCode.push('${version}')
})
`
const files = {
  'waypost.yml': yml,
  'src/opened.ts': helper('A'),
  'src/held.ts': actionFile('await holdCode?.()\nreturn opened', `import { opened } from './opened.ts'`),
  'src/other.ts': actionFile('return opened', `import { opened } from './opened.ts'`),
  'src/tidy.ts': actionFile('return opened', `import { opened } from './opened.ts'`),
}

test('a release is closed after its last request, its timers end, and a rollback opens everything again', async () => {
  const closed: string[] = (world.closedCode = [])
  await using site = await openProjectServer({ files })
  const ask = async (route: string) => (await fetch(`${site.url}${route}`)).json()
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  world.holdCode = () => {
    began.resolve()
    return end.promise
  }
  const held = ask('/held')
  await began.promise
  world.holdCode = undefined
  await site.deploy({ 'src/opened.ts': helper('B') })
  assert.deepEqual([await ask('/other'), closed], [{ isOpen: true, version: 'B' }, []])
  end.resolve()
  assert.deepEqual(await held, { isOpen: true, version: 'A' })
  await until('the first release is closed', () => closed.length === 1)
  await site.deploy({ 'src/opened.ts': helper('A') })
  assert.deepEqual(await ask('/other'), { isOpen: true, version: 'A' })
  await until('the second release is closed', () => closed.length === 2)
  const places = () =>
    site.logs.flatMap(({ msg, place }) => (/left something running/.test(String(msg)) ? [place] : []))
  await until('its timers are logged', () => places().length === 2)
  assert.deepEqual(
    [closed, places()],
    [
      ['A', 'B'],
      ['src/opened.ts:3', 'src/opened.ts:3'],
    ],
  )
  await site.server.close()
  assert.deepEqual(closed, ['A', 'B', 'A'])
})

test('a release that cannot be served is closed, and the previous one stays open', async () => {
  const closed: string[] = (world.closedCode = [])
  await using site = await openProjectServer({ files })
  const broken = {
    'src/opened.ts': helper('C'),
    'src/other.ts': `import './opened.ts'\nthrow new Error('broken')\nexport default class {}`,
  }
  await assert.rejects(site.deploy(broken), /broken/)
  assert.deepEqual(closed, ['C'])
  assert.deepEqual(await (await fetch(`${site.url}/other`)).json(), { isOpen: true, version: 'A' })
})
