import assert from 'node:assert/strict'
import { isWaypostError } from '../../src/kit/index.ts'
import type { Files } from '../support/project-server.ts'

export const packageJson = (more: object = {}) =>
  JSON.stringify({ name: 'geo', version: '2.1.0', type: 'module', exports: './index.js', ...more })

/** A package in `node_modules` whose plugin has these members. */
export function pack(
  name: string,
  members: string,
  { top = '', more = {} }: { top?: string; more?: object } = {},
): Files {
  const code = `import { definePlugin } from 'waypost'
${top}
export default definePlugin({ name: '${name}', requires: '^1.0.0', ${members} })
`
  return {
    [`node_modules/${name}/package.json`]: packageJson({ name, ...more }),
    [`node_modules/${name}/index.js`]: code,
  }
}

export const distance = `distance: {
  description: 'Distance', config: { type: 'object', required: ['to'], properties: { to: { type: 'string' }, times: { type: 'integer', default: 1 } } },
  describe: (_config, use) => ({ plan: { format: 1, databases: use.databases } }),
  make: ({ config, plan, use, databases, host }) => ({
    handle: () => ({ to: config.to, times: config.times, at: use.method + ' ' + use.path, described: plan.databases, databases, unit: host.config.unit }),
  }),
}`
export const box = `box: {
  description: 'A box', config: { type: 'object', properties: { label: { type: 'string' } } }, clientType: '{ label: string }',
  async open({ label }, { config, name }) {
    globalThis.boxes = [...(globalThis.boxes ?? []), label]
    return { client: { label, unit: config.unit, name }, async check() {}, async close() { globalThis.boxes.push('closed ' + label) } }
  },
}`
export const geo = (more = '') =>
  pack(
    'geo',
    `config: { type: 'object', properties: { unit: { type: 'string', default: 'km', enum: ['km', 'mi'] } }, additionalProperties: false },
    connections: { ${box} }, actions: { ${distance} },
    routes(app, host) {
      app.get('/geo', { config: { public: true } }, () => ({ unit: host.config.unit, box: host.connection('Box'), release: host.release.id, databases: host.databases }))
      app.post('/far/:to', {
        config: { scopes: ['geo'] },
        schema: {
          description: 'Moves a place',
          params: { type: 'object', properties: { to: { type: 'string', maxLength: 9 } } },
          querystring: { type: 'object', properties: { fast: { type: 'boolean' } } },
          body: { type: 'object', required: ['by'], properties: { by: { type: 'integer' } } },
          response: { 200: { type: 'object', properties: { moved: { type: 'boolean' } } }, '4xx': { type: 'object' } },
        },
      }, () => ({ moved: true }))
      app.get('/files/*', { config: { public: true } }, () => 1)
      app.get('/call/:who', { config: { scopes: ['geo'] } }, async ({ params, principal }) =>
        host.call('GET /far/:to', { params: { to: 'a/b ' + params.who }, query: { n: [1, 2] } }, params.who === 'nobody' ? undefined : principal))
    }, ${more}`,
  )

const yaml = `plugins:
  - name: geo
    config: { unit: "\${env.UNIT:-km}" }
  - ./plugins/local.ts
connection:
  Box: { class: box, config: { label: blue } }
  Archive: { class: sqlite, config: { file: archive.db } }
routes:
  /near: { methods: { GET: { public: true, action: { class: distance, config: { to: Rome } } } } }
  /shout: { methods: { GET: { public: true, action: { class: shout } } } }
  /box: { methods: { GET: { public: true, action: src/box.ts } } }
  /far/:to:
    scopes: [far]
    methods: { GET: { parameters: { n: { type: array, items: { type: integer } } }, action: src/far.ts } }
`
export const local = (word: string) => `import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'local',
  actions: { shout: { description: 'Shouts', config: {}, make: () => ({ handle: () => ({ shout: '${word}' }) }) } },
})
`
export interface Operation {
  readonly description: string
  readonly security: unknown
  readonly parameters: readonly { readonly name: string; readonly schema: object }[]
  readonly requestBody: object
  readonly responses: object
}

export const project: Files = {
  'package.json': '{ "type": "module" }',
  'waypost.yml': yaml,
  'plugins/local.ts': local('HELLO'),
  'src/box.ts': `export default class { handle(_, context) { return context.connection('Box') } }\n`,
  'src/far.ts': `export default class { handle({ params, query }, { principal }) { return { params, query, user: principal.user.name } } }\n`,
  ...geo(),
}

/** What a deployment is refused with. */
export async function refusalOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await work
  } catch (error) {
    assert.ok(isWaypostError(error), String(error))
    return { code: error.code, message: error.message }
  }
  return { code: 'none', message: 'it was served' }
}

export const route = (name: string, members: string, options?: Parameters<typeof pack>[2]): Files => ({
  ...pack(name, members, options),
  'waypost.yml': `plugins: [${name}]\n${yaml.slice(yaml.indexOf('routes:')).split('  /near')[0]}  /a: { methods: { GET: { public: true, action: src/a.ts } } }\n`,
})
export const use = (config = '{}', more = '') =>
  `plugins: [bad]\nroutes:\n  /a: { methods: { GET: { public: true, action: { class: made, config: ${config} } } } }\n${more}`
export const made = (make: string, config = '{}') =>
  `actions: { made: { description: 'Made', config: ${config}, make: ${make} } }`
