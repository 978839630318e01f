import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { assertCommand, parts, readPart } from './part.ts'

describe('the units for systemd', () => {
  const folder = 'systemd/deploy/systemd'
  const services = globSync('*.service', { cwd: path.join(parts, folder) })
  const valuesOf = (file: string, key: string) =>
    [...readPart(`${folder}/${file}`).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  /** Returns the sandboxing options of a unit. */
  const shutIn = (file: string) => {
    const text = readPart(`${folder}/${file}`)
    return text.slice(text.indexOf('NoNewPrivileges='), text.indexOf('UMask='))
  }

  it('run commands that exist as a separate user', () => {
    assert.equal(services.length, 5)
    for (const file of services) {
      const [line = ''] = valuesOf(file, 'ExecStart')
      assert.match(line, /^\/usr\/bin\/node node_modules\/waypost\/bin\/run\.js \S/)
      assertCommand(line.split(' ').slice(2))
      assert.deepEqual(valuesOf(file, 'User'), ['waypost'])
      assert.deepEqual(valuesOf(file, 'EnvironmentFile'), ['/etc/my-api/waypost.env'])
    }
  })

  it('are all restricted in the same way, and allow the compilation of JavaScript', () => {
    assert.match(shutIn('waypost.service'), /ProtectSystem=strict\n[^]*SystemCallFilter=@system-service\n/)
    for (const file of services) {
      assert.equal(shutIn(file), shutIn('waypost.service'), file)
      assert.deepEqual(valuesOf(file, 'MemoryDenyWriteExecute'), [])
    }
  })

  it('stop after many failed starts, but not within an hour, and not while System cannot be reached', () => {
    for (const file of services.filter((name) => valuesOf(name, 'Restart').includes('always'))) {
      const [interval, burst, pause] = ['StartLimitIntervalSec', 'StartLimitBurst', 'RestartSec'].map((key) =>
        Number(valuesOf(file, key)[0]),
      )
      const patienceSec = 60 // of serve and event:execute --watch
      assert.ok(interval! > 0 && burst! > interval! / patienceSec + 1, file)
      const startSec = 1.5 // of a server that finds its System not migrated
      assert.ok(burst! * pause! >= 3600 && burst! * (pause! + startSec) < interval!, file)
    }
    const { engines } = JSON.parse(readFileSync(path.join(parts, '../host/package.json'), 'utf8')) as {
      readonly engines: { readonly node: string }
    }
    const needed = `/usr/bin/node\`, which must be Node ${engines.node.replace('>=', '')} or newer`
    assert.ok(readPart(`${folder}/README.md`).includes(needed))
  })

  it('give a server the memory that it takes with full tables and slow clients, as the other recipes do', () => {
    const megabytes = (value = '') => Number(/^(\d+)M(?:i)?$/i.exec(value)?.[1])
    const compose = /mem_limit: (\S+)/.exec(readPart('docker/compose.yml'))?.[1]
    const kubernetes = /limits: \{ memory: (\S+) \}/.exec(readPart('kubernetes/deploy/kubernetes/server.yml'))?.[1]
    for (const file of ['waypost.service', 'waypost@.service']) {
      const [high, max] = ['MemoryHigh', 'MemoryMax'].map((key) => megabytes(valuesOf(file, key)[0]))
      const measured = 120 + 400 // idle, and docs/operations.md
      assert.ok(high! > measured && max! > high!, file)
      assert.deepEqual([megabytes(compose), megabytes(kubernetes)], [max, max])
    }
  })

  it('share the port where there are several of them', () => {
    assert.match(valuesOf('waypost@.service', 'ExecStart')[0]!, / serve --reuse-port$/)
    assert.deepEqual(valuesOf('waypost@.service', 'WantedBy'), ['waypost.target'])
  })

  it('have a service for each timer, which is exact', () => {
    for (const file of globSync('*.timer', { cwd: path.join(parts, folder) })) {
      assert.ok(existsSync(path.join(parts, folder, file.replace('.timer', '.service'))))
      assert.deepEqual([valuesOf(file, 'OnCalendar'), valuesOf(file, 'AccuracySec')], [['minutely'], ['1s']])
    }
  })

  const analyzer = /^systemd (\d+)/.exec(spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' }).stdout ?? '')
  const skip = Number(analyzer?.[1] ?? 0) < 250 && 'systemd-analyze of systemd 250 or newer is not on this machine'

  it('are units to systemd, without a warning', { skip }, async () => {
    const copy = await mkdtemp(path.join(tmpdir(), 'waypost-units-'))
    try {
      await cp(path.join(parts, folder), copy, { recursive: true })
      const units = (await readdir(copy)).filter((file) => file.startsWith('waypost'))
      for (const file of units) {
        const text = await readFile(path.join(copy, file), 'utf8')
        await writeFile(path.join(copy, file), text.replace('/usr/bin/node', process.execPath)) // it must exist
      }
      const words = ['verify', ...units.map((file) => `./${file.replace('@.', '@1.')}`)]
      const { stdout, stderr } = spawnSync('systemd-analyze', words, { cwd: copy, encoding: 'utf8' })
      // Without messages about units of the machine.
      const own = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('waypost'))
      assert.deepEqual(own, [])
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })
})
