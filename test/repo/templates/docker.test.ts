import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { assertCommand, assertPinned, readPart } from './part.ts'

describe('the Dockerfile', () => {
  const file = readPart('docker/Dockerfile')
  /** Returns the stages of the file for the folder of a project, or for that of a server. */
  const stagesFor = (folder: 'project' | 'server') => {
    const other = { project: 'server', server: 'project' }[folder]
    const text = file.replaceAll(new RegExp(`^# <${other}>\n[^]*?^# </${other}>\n`, 'gm'), '')
    return [...text.matchAll(/^FROM (\S+) AS (\w+)\n([^]*?)(?=^FROM |$(?![^]))/gm)].map(
      ([, from = '', name = '', body = '']) => ({ from, name, text: body }),
    )
  }
  const stages = stagesFor('project')
  const words = (text: string) => /^CMD (\[.*\])$/m.exec(text)?.[1]

  it('names the image of Node once, and the syntax, by version and digest', () => {
    const images = file.match(/^FROM \S+:\S+/gm)
    assert.ok(images?.length === 1)
    for (const image of [images[0].slice('FROM '.length), /^# syntax=(.+)\n/.exec(file)![1]!]) assertPinned(image)
  })

  it('builds a server from all packages of the folder of a server, and from those of a project that it needs', () => {
    const froms = (folder: 'project' | 'server') =>
      stagesFor(folder)
        .slice(1)
        .map(({ name, from }) => `${name} ${from}`)
    assert.deepEqual(froms('server'), ['base node', 'packages base', 'server node'])
    assert.deepEqual(froms('project'), [
      'base node',
      'project base',
      'deploy project',
      'chosen project',
      'packages base',
      'server node',
    ])
    for (const { text } of [...stagesFor('server'), ...stages].filter((stage) =>
      /npm (?:ci|install)/.test(stage.text),
    )) {
      assert.match(text, /--mount=type=secret,id=npmrc,target=\/root\/\.npmrc/)
      assert.match(text, /--mount=type=secret,id=NPM_TOKEN,env=NPM_TOKEN/)
    }
  })

  it('chooses Waypost, plugins that servers have installed, and OpenTelemetry', async () => {
    const { text } = stages.find(({ name }) => name === 'chosen')!
    const program = /\| (node -e "[^]*")$/m.exec(text)![1]!.replaceAll('\\\n', '')
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-chosen-'))
    try {
      const names = ['waypost', 'pdf-lib', 'waypost-plugin-native', 'waypost-plugin-mail', '@opentelemetry/api']
      const dependencies = Object.fromEntries(names.map((name) => [name, '^1.0.0']))
      await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: 'shop', dependencies }))
      const plugins = [
        { name: 'waypost', source: 'waypost' },
        { name: 'native', from: 'waypost-plugin-native', source: 'host' },
        { name: 'mail', from: 'waypost-plugin-mail', source: 'release' },
      ]
      const input = JSON.stringify({ plugins })
      const { status, stderr } = spawnSync('sh', ['-c', program], { cwd: folder, input, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      const chosen = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as object
      const { 'pdf-lib': _, 'waypost-plugin-mail': _bundled, ...kept } = dependencies
      assert.deepEqual(chosen, { private: true, dependencies: kept })
    } finally {
      await rm(folder, { recursive: true })
    }
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

  it('rotates the logs of what runs permanently', () => {
    for (const name of ['postgres', 'server', 'events']) {
      const { driver, options } = services[name]!['logging'] as { driver: string; options: Record<string, string> }
      assert.deepEqual([driver, Object.keys(options)], ['json-file', ['max-size', 'max-file']], name)
    }
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
