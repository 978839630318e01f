import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Plugin } from '../../src/contract/index.ts'
import { joinPlugins, loadPlugins } from '../../src/plugin/index.ts'
import { writeFiles } from '../support/project-server.ts'

const box = `{ description: 'A box', config: {}, clientType: 'string', open: async () => ({}) }`
const packageJson = (exports: unknown) => JSON.stringify({ name: 'x', version: '1.0.0', type: 'module', exports })

/** A package of `node_modules` with this default export. */
const pack = (name: string, code: string, exports: unknown = './index.js') => ({
  [`node_modules/${name}/package.json`]: packageJson(exports),
  [`node_modules/${name}/index.js`]: `${code}\n`,
})
const plugin = (fields: string) => `export default { name: 'sample', requires: '^1.0.0', ${fields} }`

const files = {
  'package.json': '{}',
  ...pack(
    'good',
    plugin(`connections: { box: ${box} }, actions: { hello: { description: '', config: {}, make: () => ({}) } }`),
  ),
  ...pack('import-only', plugin(`connections: { chest: ${box} }`), { '.': { import: './index.js' } }),
  ...pack('@scope/deep', `import { word } from 'good-helper'\n${plugin('connections: { [word]: ' + box + ' }')}`),
  ...pack('good-helper', `export const word = 'helped'`),
  ...pack(
    'same-class',
    `export default { name: 'other', requires: '*', actions: { box: { description: '', config: {}, make: () => ({}) } } }`,
  ),
  ...pack('own-class', `export default { name: 'mine', requires: '*', connections: { sqlite: ${box} } }`),
  ...pack('throws', `throw new Error('broken inside\\nand more')`),
  ...pack('no-default', `export const plugin = {}`),
  ...pack('text', `export default 'plugin'`),
  ...pack('no-name', `export default { requires: '*' }`),
  ...pack('no-requires', `export default { name: 'a' }`),
  ...pack('bad-requires', `export default { name: 'a', requires: 'new' }`),
  ...pack('blank-requires', `export default { name: 'a', requires: ' ' }`),
  ...pack('newer', `export default { name: 'a', requires: '^99.0.0' }`),
  ...pack('no-open', plugin(`connections: { box: { description: '', config: {} } }`)),
  ...pack('no-make', plugin(`actions: { hello: { description: '', config: {} } }`)),
  ...pack('no-schema', plugin(`actions: { hello: { description: '', make: () => ({}) } }`)),
  ...pack('no-entry', '', { './other': './index.js' }),
}

describe('loading plugins', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-plugin-'))
    await writeFiles(folder, files)
  })
  after(() => rm(folder, { recursive: true }))

  test('those that ship with Waypost need not be listed', async () => {
    for (const names of [[], ['@waypost/plugin-sql']]) {
      const { plugins, connections } = await loadPlugins(folder, names)
      assert.deepEqual(
        plugins.map(({ name }) => name),
        ['sql'],
      )
      assert.deepEqual([...connections.keys()].toSorted(), ['postgresql', 'sqlite'])
    }
  })

  test('listed ones come from the packages of the folder, also those that can only be imported', async () => {
    const { connections, actions } = await loadPlugins(folder, ['good', 'import-only', '@scope/deep'])
    assert.deepEqual([...connections.keys()].toSorted(), ['box', 'chest', 'helped', 'postgresql', 'sqlite'])
    assert.deepEqual([...actions.keys()], ['hello'])
  })

  for (const [name, code, message] of [
    ['missing', 'WP_PLUGIN_MISSING', /^Cannot load the plugin "missing": Cannot find package 'missing'/],
    ['no-entry', 'WP_PLUGIN_MISSING', /Cannot load the plugin "no-entry": No "exports" main/],
    ['throws', 'WP_PLUGIN_MISSING', /Cannot load the plugin "throws": broken inside$/],
    ['no-default', 'WP_PLUGIN_INVALID', /its default export is not an object$/],
    ['text', 'WP_PLUGIN_INVALID', /its default export is not an object$/],
    ['no-name', 'WP_PLUGIN_INVALID', /it has no name$/],
    ['no-requires', 'WP_PLUGIN_INVALID', /does not declare the versions/],
    ['bad-requires', 'WP_PLUGIN_INVALID', /"new" is not a valid version range$/],
    ['blank-requires', 'WP_PLUGIN_INVALID', /" " is not a valid version range$/],
    ['no-open', 'WP_PLUGIN_INVALID', /connection class "box" has no open function$/],
    ['no-make', 'WP_PLUGIN_INVALID', /action class "hello" has no make function$/],
    ['no-schema', 'WP_PLUGIN_INVALID', /action class "hello" has no config schema$/],
    ['newer', 'WP_PLUGIN_VERSION', /^The plugin "newer" requires waypost \^99\.0\.0, but this is version \d/],
    ['own-class', 'WP_PLUGIN_CLASS_TWICE', /^Two plugins provide the class "sqlite": "sql" and "mine"$/],
  ] as const) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(loadPlugins(folder, [name]), { code, message })
    })
  }

  test('a class of two plugins is refused, whatever kind of class it is', async () => {
    await assert.rejects(loadPlugins(folder, ['good', 'same-class']), {
      code: 'WP_PLUGIN_CLASS_TWICE',
      message: 'Two plugins provide the class "box": "sample" and "other"',
    })
    const one: Plugin = {
      name: 'one',
      requires: '*',
      actions: { toString: { description: '', config: {}, make: () => ({}) as never } },
    }
    assert.ok(joinPlugins([one]).actions.has('toString'))
  })
})
