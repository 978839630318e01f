import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { validateProject } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'

const project = `connection:
  Stock: { class: http, config: { url: 'ftp://stock.example', timeout: 31s, auth: { bearer: x, header: { name: a, value: b } } } }
  Orders: { class: sqlite, config: { file: orders.db } }
rate: { any: { limit: 1, window: 1s } }
routes:
  /secret:
    methods:
      GET:
        public: true
        action:
          class: respond
          config:
            headers: { x-key: "\${env.KEY}" }
            body: { key: "\${env.KEY}" }
  /event:
    methods:
      POST: { public: true, rate: any, action: { class: dispatch, config: { event: nosuch } } }
  /proxy/:id:
    methods:
      GET: { public: true, action: { class: proxy, config: { connection: Nosuch, path: /a } } }
      PUT:
        public: true
        rate: any
        action:
          class: proxy
          config:
            connection: Orders
            path: /a/:other
            query: [page]
            headers:
              request:
                - X-Own
                - Cookie
      PATCH: { public: true, rate: any, action: { class: proxy, config: { connection: Stock, path: 'http://evil.example/' } } }
  /query:
    methods:
      GET:
        public: true
        action:
          class: sql-query
          config:
            connection: Orders
            query: |
              delete from x
              where id = :id and user_id = :user.id
`

test('problems in the config of a class are reported at their line', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-diagnostics-'))
  try {
    await writeFiles(folder, { 'waypost.yml': project, 'package.json': '{}' })
    const { diagnostics } = await validateProject(folder)
    const found = diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ message, range }) => `${range.start.line} ${message.replace(/ pattern .*/, '')}`)
    assert.deepEqual(found, [
      '2 "config/url" must match',
      '2 "config/timeout" must match',
      '2 "config/auth" must NOT have more than 1 properties',
      '13 "config/headers/x-key" cannot contain a variable: the class needs its value when the release is built',
      '14 "config/body/key" cannot contain a variable: the class needs its value when the release is built',
      '17 Unknown event "nosuch"',
      '20 Unknown connection "Nosuch"',
      '27 The connection "Orders" does not have the class "http"',
      '28 ":other" is not a parameter of the path /proxy/:id',
      '33 The header "Cookie" cannot be passed on',
      '34 "config/path" must match',
      '43 A GET request cannot change data',
      '43 ":id" is not a parameter of the method',
      '43 ":user.id" is not known in a public method',
      '43 The method needs a response',
    ])
    const timeout = diagnostics.find(({ message }) => message.includes('config/timeout'))
    assert.equal(timeout?.hint, 'Time until a response begins, such as 5s; at most 30s')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
