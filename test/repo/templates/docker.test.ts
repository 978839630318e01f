import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { assertCommand, assertPinned, readPart } from './part.ts'

describe('the Dockerfile', () => {
  const lines = readPart('docker/Dockerfile').split('\n')
  const stages = [...readPart('docker/Dockerfile').matchAll(/^FROM (\S+) AS (\w+)\n([^]*?)(?=^FROM |$(?![^]))/gm)].map(
    ([, from = '', name = '', text = '']) => ({ from, name, text }),
  )
  const words = (text: string) => /^CMD (\[.*\])$/m.exec(text)?.[1]

  it('names every image by its version', () => {
    const version = /^ARG NODE_VERSION=(\S+)$/m.exec(lines.join('\n'))?.[1] ?? ''
    for (const { from } of stages.filter((stage) => stage.from.includes(':')))
      assertPinned(from.replace('${NODE_VERSION}', version))
    assert.deepEqual(
      stages.map(({ name, from }) => [name, from.includes(':')]),
      [
        ['base', true],
        ['deploy', false],
        ['packages', false],
        ['server', true],
      ],
    )
  })

  it('runs without root, by existing commands, and the image of a server contains no project files', () => {
    for (const name of ['deploy', 'server']) {
      const { text } = stages.find((stage) => stage.name === name)!
      assert.match(text, /^USER 1000:1000$/m)
      assert.match(text, /^ENTRYPOINT \["node", "node_modules\/waypost\/bin\/run\.js"\]$/m)
      assertCommand(JSON.parse(words(text) ?? '[]'))
    }
    const server = stages.at(-1)!
    assert.equal(server.name, 'server', 'the last stage is what docker build makes')
    assert.deepEqual(server.text.match(/^COPY .*$/gm), ['COPY --from=packages /srv/my-api ./'])
    assert.match(server.text, /^HEALTHCHECK /m)
  })

  it('copies no file into an image that may contain a secret', () => {
    const ignored = readPart('docker/__dockerignore').split('\n')
    for (const name of ['**/.env', '**/.env.*', '.npmrc', '.git', '.waypost', 'node_modules', '**/*.key', '**/*.pem'])
      assert.ok(ignored.includes(name), name)
  })
})

describe('the compose file', () => {
  const { services } = parse(readPart('docker/compose.yml'), { merge: true }) as {
    services: Record<string, Record<string, unknown> & { image: string; command?: string[]; depends_on?: object }>
  }
  const own = Object.entries(services).filter(([, { image }]) => image.startsWith('my-api-'))

  it('has PostgreSQL, a migration, a deployment, a server and a worker, in this order', () => {
    assertPinned(services['postgres']!.image)
    assert.deepEqual(
      Object.entries(services).map(([name, { depends_on: after = {} }]) => [name, Object.entries(after).flat()]),
      [
        ['postgres', []],
        ['migrate', ['postgres', { condition: 'service_healthy' }]],
        ['deploy', ['migrate', { condition: 'service_completed_successfully' }]],
        ['server', ['migrate', { condition: 'service_completed_successfully' }]],
        ['events', ['migrate', { condition: 'service_completed_successfully' }]],
      ],
    )
  })

  it('runs existing commands, with only what they need', () => {
    for (const [name, { command, read_only: isReadOnly, cap_drop: dropped, security_opt: security }] of own) {
      if (name !== 'deploy') assertCommand(command)
      assert.deepEqual([isReadOnly, dropped, security], [true, ['ALL'], ['no-new-privileges:true']], name)
    }
    assert.deepEqual(services['events']!.command, ['event:execute', '--watch'])
    assert.deepEqual(services['server']!['ports'], ['127.0.0.1:3000:3000'])
  })

  it('holds no secret, and does not start without one', () => {
    for (const [name, { environment }] of own) {
      const { WAYPOST_SECRET: secret, WAYPOST_SYSTEM_URL: url } = environment as Record<string, string>
      assert.match(secret ?? '', /^\$\{WAYPOST_SECRET:\?/, name)
      assert.match(url ?? '', /:\$\{POSTGRES_PASSWORD:\?[^}]+\}@postgres\//, name)
    }
  })
})
