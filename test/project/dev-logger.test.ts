import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { errorSerializers, logSafely } from '../../src/host/index.ts'
import { markActionLogger } from '../../src/kit/index.ts'
import type { LoggedLine } from '../../src/project/dev-console.ts'
import { makeDevLogger } from '../../src/project/dev-logger.ts'

function open(variables: Record<string, string> = {}) {
  const lines: LoggedLine[] = []
  const logger = makeDevLogger({ variables, logSecrets: new Set() }, { logged: (line) => void lines.push(line) })
  return { lines, logger, action: markActionLogger(logger.child({ reqId: '7Q4F2K' })) }
}

test('log lines of an action are shown from info on, with their own fields only', () => {
  const { lines, action } = open()
  action.debug('not this')
  action.info({ order: 7 }, 'an order')
  action.child({ part: 'stock' }).warn('low')
  assert.deepEqual(lines, [
    { level: 'info', message: 'an order', cronjob: undefined, fields: { order: 7 } },
    { level: 'warn', message: 'low', cronjob: undefined, fields: { part: 'stock' } },
  ])
})

test('an error is shown as it was thrown, alone and among fields', () => {
  const { lines, action } = open()
  const error = new Error('broken')
  action.error(error)
  action.error({ err: error, order: 7 }, 'no order')
  action.error({ err: 'a text' })
  assert.deepEqual(lines, [
    { level: 'error', message: 'broken', cronjob: undefined, fields: {}, error },
    { level: 'error', message: 'no order', cronjob: undefined, fields: { order: 7 }, error },
    { level: 'error', message: '', cronjob: undefined, fields: { err: 'a text' } },
  ])
})

test('an error without a text is logged without the values that it quotes', () => {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  const logger = pino({ hooks: { logMethod: logSafely }, serializers: errorSerializers }, stream)
  const error = Object.assign(new Error('invalid input syntax for type integer: "ann@example.com"'), {
    code: '22P02',
    severity: 'ERROR',
  })
  logger.error(error)
  logger.error({ err: error })
  logger.error('failed: %s', error)
  logger.error(error, 'own text of %s', 'ann')
  logger.error({ err: error, msg: 'own' })
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    [
      'invalid input syntax for type integer',
      'invalid input syntax for type integer',
      'failed: invalid input syntax for type integer',
      'own text of ann',
      'own',
    ],
  )
  assert.ok(!JSON.stringify(lines).includes('example.com'))
})

test('log lines of a cronjob name it', () => {
  const { lines, logger } = open()
  markActionLogger(logger.child({ cronjob: 'nightly', run: 'r1' })).info('done')
  assert.deepEqual(lines, [{ level: 'info', message: 'done', cronjob: 'nightly', fields: {} }])
})

test("Waypost's own log lines are not shown", () => {
  const { lines, logger } = open()
  logger.error('no')
  logger.child({ reqId: '7Q4F2K' }).error({ err: new Error('no') }, 'request failed')
  assert.deepEqual(lines, [])
})

test('LOG_LEVEL shows less or more', () => {
  const quiet = open({ LOG_LEVEL: 'error' })
  quiet.action.warn('no')
  quiet.action.error('yes')
  const loud = open({ LOG_LEVEL: 'debug' })
  loud.action.debug('yes')
  assert.deepEqual(
    [...quiet.lines, ...loud.lines].map(({ message }) => message),
    ['yes', 'yes'],
  )
})
