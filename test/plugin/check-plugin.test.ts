import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin, type Plugin } from '../../src/contract/index.ts'
import { assertPlugin, describePlugin, joinPlugins, loadBuiltInPlugins } from '../../src/plugin/index.ts'
import { asLoaded } from '../support/plugins.ts'

const box = { description: 'A box', config: {}, clientType: 'string', open: async () => ({}) as never }
const hello = { description: 'Greets', config: {}, make: () => ({ handle: () => 'hello' }) }

test('the plugins that ship with Waypost and their classes', async () => {
  const { plugins, connections, actions } = joinPlugins(await loadBuiltInPlugins())
  assert.deepEqual(
    plugins.map(({ plugin }) => plugin.name),
    ['sql', 'http'],
  )
  assert.deepEqual([...connections.keys()].toSorted(), ['http', 'postgresql', 'sqlite'])
  assert.deepEqual([...actions.keys()].toSorted(), ['dispatch', 'proxy', 'respond', 'sql-query', 'sql-table'])
})

for (const [name, value, reason] of [
  ['nothing', undefined, 'its default export is not an object'],
  ['a text', 'plugin', 'its default export is not an object'],
  ['no name', { requires: '*' }, 'it has no name'],
  ['a name with a space', { name: 'a b', requires: '*' }, 'its name "a b" is not valid'],
  ['no versions', { name: 'a' }, 'it does not declare the versions of waypost that it requires'],
  ['a number as version', { name: 'a', requires: 1 }, 'it does not declare the versions'],
  ['an invalid range', { name: 'a', requires: 'new' }, '"new" is not a valid version range'],
  ['a blank range', { name: 'a', requires: ' ' }, '" " is not a valid version range'],
  ['a config that is not a schema', { name: 'a', requires: '*', config: 'x' }, 'its config is not a JSON Schema'],
  ['routes that are no function', { name: 'a', requires: '*', routes: {} }, 'its routes are not a function'],
  ['a hook that is not a function', { name: 'a', requires: '*', hooks: { x: 1 } }, 'its hook "x" is not a function'],
  ['a list of connections', { name: 'a', requires: '*', connections: 1 }, 'its connection classes are not an object'],
  [
    'a class without open',
    { name: 'a', requires: '*', connections: { box: { config: {} } } },
    'connection class "box" has no open function',
  ],
  [
    'a class without make',
    { name: 'a', requires: '*', actions: { b: { config: {} } } },
    'action class "b" has no make function',
  ],
  [
    'a class without a schema',
    { name: 'a', requires: '*', actions: { b: { make() {} } } },
    'action class "b" has no config schema',
  ],
] as const) {
  test(`a default export with ${name} is not a plugin`, () => {
    assert.throws(
      () => assertPlugin(value, 'geo'),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'WP_PLUGIN_INVALID')
        assert.ok(error.message.startsWith('"geo" is not a Waypost plugin: '))
        assert.ok(error.message.includes(reason), error.message)
        return true
      },
    )
  })
}

test('a plugin for another version of Waypost is rejected; a file of the project needs no range', () => {
  assert.throws(() => assertPlugin({ name: 'a', requires: '^99.0.0' }, 'geo'), {
    code: 'WP_PLUGIN_VERSION',
    message: /^The plugin "geo" requires waypost \^99\.0\.0, but this is version \d/,
  })
  assert.equal(assertPlugin({ name: 'a' }, './plugins/a.ts', { isLocal: true }).name, 'a')
})

test('names of plugins and of classes are unique, across all kinds of classes', () => {
  const named = (name: string, more: Partial<Plugin> = {}): Plugin => definePlugin({ name, requires: '*', ...more })
  const one = named('one', { connections: { box } })
  const other = named('other', { actions: { box: hello } })
  assert.throws(() => joinPlugins(asLoaded([one, other])), {
    code: 'WP_PLUGIN_CLASS_TWICE',
    message: 'Two plugins provide the class "box": "one" and "other"',
  })
  assert.throws(() => joinPlugins(asLoaded([one, named('one')])), { code: 'WP_PLUGIN_NAME_TWICE' })
  assert.ok(joinPlugins(asLoaded([named('three', { actions: { toString: hello } })])).actions.has('toString'))
})

test('a catalog is data: sorted, and without functions', () => {
  const connection = { ...box, migrations: 'sqlite' as const, capabilities: ['count'] as const }
  const plugin = definePlugin({
    name: 'geo',
    requires: '*',
    config: { type: 'object' },
    connections: { z: connection, a: box },
    actions: { hello },
    routes() {},
  })
  assert.deepEqual(describePlugin(plugin), {
    name: 'geo',
    config: { type: 'object' },
    connections: {
      a: { description: 'A box', config: {}, clientType: 'string' },
      z: {
        description: 'A box',
        config: {},
        clientType: 'string',
        migrations: 'sqlite',
        capabilities: ['count'],
      },
    },
    actions: { hello: { description: 'Greets', config: {} } },
    routes: true,
  })
  assert.deepEqual(Object.keys(describePlugin(plugin).connections), ['a', 'z'])
})
