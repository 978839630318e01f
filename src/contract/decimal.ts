/** Returns a decimal as an integer of the smallest unit; undefined if it has more digits after the point, or is none. */
export function scaleDecimal(text: string, scale: number): bigint | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,1000})(?:\.(\d{1,1000}))?$/.exec(text) ?? []
  if (whole === undefined || /[1-9]/.test(fraction.slice(scale))) return undefined
  const scaled = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'))
  return sign === '-' ? -scaled : scaled
}

/** Returns an integer of the smallest unit as a decimal with all its digits, as PostgreSQL writes it. */
export function writeDecimal(scaled: bigint, scale: number): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, point)}${scale === 0 ? '' : `.${digits.slice(point)}`}`
}

/** An exact decimal as the parameter of a statement. */
export class Decimal {
  readonly #scaled: bigint
  readonly #scale: number

  constructor(scaled: bigint, scale: number) {
    this.#scaled = scaled
    this.#scale = scale
  }

  /** `pg` calls it. */
  toPostgres(): string {
    return this.toString()
  }

  /** SQLite stores it as an integer of the smallest unit. */
  toSqlite(): bigint {
    return this.#scaled
  }

  toString(): string {
    return writeDecimal(this.#scaled, this.#scale)
  }

  toJSON(): string {
    return this.toString()
  }
}

/**
 * Returns a decimal as a parameter for a column of the type `numeric`. Both databases then store and compare the same value.
 * @param value a text such as `12.50`, or a number whose decimal text is meant
 * @param scale that of the column
 * @throws RangeError if it has more digits after the point
 */
export function decimal(value: string | number | bigint, scale: number): Decimal {
  const scaled = scaleDecimal(String(value), scale)
  if (scaled === undefined) throw new RangeError(`"${value}" is not a decimal with ${scale} digits after the point`)
  return new Decimal(scaled, scale)
}
