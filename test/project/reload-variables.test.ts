import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { openHost } from '../../src/host/index.ts'
import { setHostVariable, unsetHostVariable } from '../../src/operate/index.ts'
import { asCommand } from '../support/server.ts'
import { until } from '../support/until.ts'
import { useDevFolder } from './dev-folder.ts'

describe('variables in dev', () => {
  const folder = useDevFolder()
  const { write, edit, ask, valueOf, shows, takeReports, save, waitForReports } = folder

  test('a save of .env is visible in the next request, and variables that apply only at start are named', async () => {
    assert.equal((await ask('/openapi.json')).body.openapi, '3.1.0')
    await save(() => write('.env', 'DOCS=off\n'))
    assert.equal((await ask('/openapi.json')).status, 404)
    assert.deepEqual(takeReports(), ['reloaded .env'])
    await save(() => write('.env', ''))
    assert.deepEqual(takeReports(), ['reloadFailed .env WP_DEFINITION_ENV_MISSING'])
    await save(() => write('.env', 'DOCS=public\nPORT=81\n'))
    assert.equal((await ask('/openapi.json')).status, 200)
    assert.deepEqual(takeReports(), ['warned', 'reloaded .env fixed'])
  })

  test('a save of .env changes the variables of actions; a value of another type is rejected', async () => {
    await save(() => write('.env', 'DOCS=public\nPORT=81\nSTEP=11\n'))
    assert.equal(await valueOf('/step'), 11)
    await save(() => write('.env', 'DOCS=public\nPORT=81\nSTEP=few\n'))
    assert.equal(await valueOf('/step'), 11)
    await save(() => write('.env', 'DOCS=public\nPORT=81\n'))
    assert.equal(await valueOf('/step'), 1)
    assert.deepEqual(takeReports(), [
      'reloaded .env',
      'reloadFailed .env WP_DEFINITION_ENV_TYPE',
      'reloaded .env fixed',
    ])
  })

  test('a save of a file of the mode is visible in the next request; the most specific file takes precedence', async () => {
    const steps: unknown[] = []
    const writes = [
      ['.env.local', 'STEP=12\n'],
      ['.env.development.local', 'STEP=14\n'],
      ['.env.development', 'STEP=13\n'],
      ['.env.staging', 'STEP=15\n'],
    ] as const
    for (const [file, text] of writes) {
      if (file === '.env.staging') await write(file, text)
      else await save(() => write(file, text))
      steps.push(await valueOf('/step'))
    }
    for (const file of ['.env.development.local', '.env.development', '.env.local']) {
      await save(() => rm(path.join(folder.root, file)))
      steps.push(await valueOf('/step'))
    }
    assert.deepEqual(steps, [12, 14, 14, 14, 13, 12, 1])
    takeReports()
  })

  test('a variable in System is applied without a save; one of another type is rejected; .env takes precedence', async () => {
    const host = asCommand(await openHost({ folder: folder.root, variables: {} }))
    try {
      await save(async () => void (await setHostVariable(host, { name: 'STEP', value: '21' })))
      assert.equal(await valueOf('/step'), 21)
      await save(async () => void (await setHostVariable(host, { name: 'STEP', value: 'many' })))
      assert.equal(await valueOf('/step'), 21)
      await save(() => write('.env', 'DOCS=public\nPORT=81\nSTEP=11\n'))
      assert.equal(await valueOf('/step'), 11)
      await save(async () => void (await unsetHostVariable(host, { name: 'STEP', isForced: false })))
      await save(() => write('.env', 'DOCS=public\nPORT=81\n'))
      assert.equal(await valueOf('/step'), 1)
      assert.deepEqual(takeReports(), [
        'reloaded',
        'reloadFailed WP_DEFINITION_ENV_TYPE',
        'reloaded .env fixed',
        'reloaded',
        'reloaded .env',
      ])
    } finally {
      await host.close()
    }
  })

  test('an unreadable .env is reported, and later saves are loaded', async () => {
    await rm(path.join(folder.root, '.env'))
    await until('its removal is noticed', () => takeReports().length > 0) // or it would seem to have been there all the time
    await mkdir(path.join(folder.root, '.env'))
    await until('a folder is reported', () => takeReports().some((report) => report.startsWith('warned')))
    await rm(path.join(folder.root, '.env'), { recursive: true })
    await write('.env', 'DOCS=public\n')
    await edit('src/base.ts', '= 0', '= 30')
    await shows('/value', 31)
    await waitForReports()
    assert.match(takeReports().at(-1)!, /^reloaded/)
  })
})
