import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileValidator } from '../../src/runtime/compile-schema.ts'

/** Texts that a format accepts and rejects, beyond those of the test suite of JSON Schema. */
const formats: Readonly<Record<string, readonly [valid: readonly unknown[], invalid: readonly unknown[]]>> = {
  uuid: [
    ['2eb8aa08-aa98-11ea-b4aa-73b441d16380', '2EB8AA08-AA98-11EA-B4AA-73B441D16380'],
    ['urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380', '2eb8aa08-aa98-11ea-b4aa-73b441d1638'],
  ],
  'date-time': [
    [
      '2026-01-31T10:00:00Z',
      '2026-01-31t10:00:00.123456z',
      '2026-01-31T10:00:00+01:30',
      '1998-12-31T23:59:60Z',
      '2026-04-30T23:59:59.1Z',
      '2024-02-29T10:00:00Z',
    ],
    [
      '2026-02-29T10:00:00Z',
      '2026-04-31T10:00:00Z',
      '2026-12-32T10:00:00Z',
      '2026-13-01T10:00:00Z',
      '2026-00-01T10:00:00Z',
      '2026-01-00T10:00:00Z',
      '2026-01-31T24:00:00Z',
      '2026-01-31T10:60:00Z',
      '2026-01-31T10:00:00.Z',
      '2026-01-31T10:00:00Z\n',
      '2026-01-31 10:00:00Z',
      '2026-01-31T10:00:00+01',
      '2026-01-31T10:00:00+0100',
      '2026-02-30T10:00:00Z',
      '2026-01-31T10:00:60Z',
    ],
  ],
  decimal: [
    ['0', '-12.50', '12345678901234567890.123'],
    ['', '1.', '.5', '1e3', '+1', '1,5'],
  ],
  time: [
    ['10:00:00Z', '10:00:00.5-02:00'],
    ['10:00:00', '10:00:00+01', '10:00:00+0100'],
  ],
  duration: [
    ['P1Y2M3DT4H5M6S', 'P4W', 'PT36H', 'P1M', 'P1DT12H'],
    ['P1Y2D', 'PT1H2S', 'P1YT', 'P1D2W', 'P', 'PT', 'P1S'],
  ],
  hostname: [
    ['example.com', 'a-b.example', 'xn--4gbwdl.xn--wgbh1c'],
    ['example.com.', '-a.com', 'a-.com', 'a_b', '', `${'a'.repeat(64)}.com`],
  ],
  uri: [
    ['https://example.com/a?b#c', 'urn:isbn:1'],
    ['https://example.com/"', 'https://example.com/ä', '/a', 'https://a b', 'https:\\\\a'],
  ],
  'uri-reference': [
    ['/a', '#b', '?c', 'https://example.com'],
    ['//a"b', 'a\\b', 'https://a b', '/ä'],
  ],
  byte: [
    ['YWJj', 'YQ==', ''],
    ['YWJj\n!', '!\nYWJj', 'YQ='],
  ],
  int64: [
    [0, -(2 ** 63)],
    [2 ** 63, 1e300, 1.5],
  ],
}

describe('the format', () => {
  for (const [format, [valid, invalid]] of Object.entries(formats)) {
    const check = compileValidator({ format }, {}, 'data')
    test(`${format} accepts what its specification allows`, () => {
      assert.deepEqual(
        valid.filter((value) => check(value) !== undefined),
        [],
      )
    })
    test(`${format} rejects everything else`, () => {
      assert.deepEqual(
        invalid.filter((value) => check(value) === undefined),
        [],
      )
    })
  }
})
