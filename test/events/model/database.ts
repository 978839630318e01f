// One System file that several processes use at the same time. A statement arrives after a while, and so does its answer.
// A transaction runs as a whole when it arrives, as one statement of PostgreSQL does.
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely'
import { sortedIdPrefix } from '../../../src/kit/index.ts'
import type { System, SystemTables } from '../../../src/store/index.ts'
import { errors } from '../../../src/store/sql/errors.ts'
import { SqliteHandle } from '../../../src/store/sql/sqlite-handle.ts'
import type { Process, Random, Simulation } from './simulation.ts'

export interface WorkerRow {
  readonly id: string
  readonly beat: number
  readonly lease_until: number
  readonly note: string
}

/** An attempt in the order in which it was recorded. */
export interface Recorded {
  /** What the receiver answered, or how the POST failed. */
  readonly text: string
  readonly delivery: string
  /** Of the delivery, until it was recorded. */
  readonly turn: number
}

/** @param text what was executed */
type OnWrite = (process: Process, text: string) => void

const triggers = `
  create temp table model_clock (ms integer);
  insert into model_clock values (0);
  create temp table model_recorded (text text, delivery text, turn integer);
  create temp trigger model_failed after insert on main.waypost_attempt when not exists (
    select 1 from waypost_delivery where id = new.delivery_id and answer = new.answer) -- moved by a replay
  begin
    insert into model_recorded select coalesce(new.answer, new.outcome), new.delivery_id, turn
    from waypost_delivery where id = new.delivery_id;
  end;
  create temp trigger model_delivered after update on main.waypost_delivery when new.answer is not null and new.turn <> old.turn
  begin
    insert into model_recorded values (new.answer, new.id, old.turn);
  end;`

export class Database {
  readonly #simulation: Simulation
  readonly #handle: SqliteHandle
  readonly #onWrite: OnWrite
  #ms = -1
  /** How far its clock is ahead. */
  ahead = 0
  /** What was written, for the workers that read only after a write while nothing waits. */
  #writes = 0
  /** While it is away, what arrives fails, or waits for its return. */
  #outage: 'refuses' | 'hangs' | undefined
  #waiting: (() => void)[] = []
  /** Increases when connections break. */
  #epoch = 0
  /** How likely it is that the answer of a statement is lost. */
  lossRate = 0
  /** How likely a statement takes long. */
  slowRate = 0

  /** @param onWrite is called after each statement or transaction that may have changed something */
  constructor(file: string, simulation: Simulation, onWrite: OnWrite) {
    this.#simulation = simulation
    this.#onWrite = (...given) => {
      this.#writes++
      return onWrite(...given)
    }
    this.#handle = new SqliteHandle(file, {
      readOnly: false,
      synchronous: 'OFF',
      journal: 'wal',
      allowsQuotedTexts: false,
    })
    this.#handle.command(triggers)
  }

  get now(): number {
    return this.#simulation.epoch + this.#simulation.now + this.ahead
  }

  /** What is true now, for the checks: nothing is delayed. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as `sql` of Kysely does
  select<Row>(text: string, ...parameters: unknown[]): readonly Row[] {
    this.#setClock()
    if (isWriting.test(text)) this.#writes++
    return this.#handle.execute({ sql: text, parameters }).rows as Row[]
  }

  /** Adds a fresh delivery of an old message, whose dispatch was in a long transaction, or on a server whose clock is behind. */
  addLate(): void {
    const message = sortedIdPrefix('msg_', this.#simulation.epoch - 3_600_000)
    this.select(
      `insert into waypost_message (id, event, data, created_at, fanned_out_at) values (?, 'note', '"late"', 0, 0)`,
      message,
    )
    this.select(
      `insert into waypost_delivery (id, message_id, subscription_id, lane, status, due_at, failures, lost, created_at)
        select 'dlv_late', ?, id, lane, 'pending', 0, 0, 0, 0 from waypost_subscription where ordered = 0 limit 1`,
      message,
    )
  }

  takeRecorded(): readonly Recorded[] {
    const rows = this.select<Recorded>('select * from model_recorded')
    if (rows.length > 0) this.select('delete from model_recorded')
    return rows
  }

  get isAway(): boolean {
    return this.#outage !== undefined
  }

  /** The database goes away: answers that are on their way are lost. */
  leave(how: 'refuses' | 'hangs'): void {
    this.#outage = how
    if (how === 'refuses') this.#epoch++
  }

  return(): void {
    this.#outage = undefined
    for (const arrive of this.#waiting.splice(0)) this.#simulation.after(this.random.between(0, 50), arrive)
  }

  close(): void {
    this.#handle.close()
  }

  private get random(): Random {
    return this.#simulation.random
  }

  #setClock(): void {
    const ms = Math.floor(this.now)
    if (ms === this.#ms) return
    this.#ms = ms
    this.#handle.execute({ sql: 'update model_clock set ms = ?', parameters: [ms] })
  }

  #delay(): number {
    const { random } = this
    if (!random.chance(this.slowRate)) return random.between(0, 3)
    return random.pick([50, 300, 1000, 4000, 15_000]) * random.next()
  }

  /** Waits until a statement arrives, which does not depend on the process that sent it. */
  async arrive(process: Process): Promise<number> {
    const epoch = this.#epoch
    await new Promise<void>((resolve, reject) => {
      const refuse = () => this.#simulation.after(this.#delay(), () => reject(unavailable()), process)
      const arrive = () => {
        if (this.#outage === 'hangs') this.#waiting.push(arrive)
        else if (this.#outage === 'refuses' || epoch !== this.#epoch) refuse()
        else resolve()
      }
      this.#simulation.after(this.#delay(), arrive)
    })
    if (this.#handle.isInTransaction) throw new Error('a transaction waits for something')
    this.#setClock()
    return epoch
  }

  /** Waits until the answer of what was done has arrived. */
  async answer(process: Process, epoch: number): Promise<void> {
    const isLost = this.random.chance(this.lossRate)
    await new Promise<void>((resolve, reject) => {
      const answer = () => {
        if (isLost || epoch !== this.#epoch) reject(unavailable())
        else resolve()
      }
      this.#simulation.after(this.#delay(), answer, process)
    })
  }

  /** System as a process sees it. */
  systemOf(process: Process): System {
    const db = new Kysely<SystemTables>({
      dialect: {
        createDriver: () => this.#driverOf(process),
        createQueryCompiler: () => new SqliteQueryCompiler(),
        createAdapter: () => new ConcurrentAdapter(),
        createIntrospector: (db) => new SqliteIntrospector(db),
      },
    })
    return {
      kind: 'sqlite',
      target: 'model',
      db,
      guardDb: db,
      database: this.#watched(),
      isDisposable: true,
      now: () => sql<number>`(select ms from model_clock)`,
      transaction: (work) => db.transaction().execute(work),
      check: async () => undefined,
      close: () => db.destroy(),
    }
  }

  /** Deliveries use nothing else of it. */
  #watched(): System['database'] {
    const version = { get: () => ({ data_version: this.#writes }) }
    const openHandle = () => ({ prepare: () => version, close: () => undefined })
    return { kind: 'sqlite', openHandle } as unknown as System['database']
  }

  #driverOf(process: Process): Driver {
    const connect = () => new Connection(this, process, { handle: this.#handle, onWrite: this.#onWrite })
    return {
      init: async () => undefined,
      acquireConnection: async () => connect(),
      beginTransaction: (connection) => (connection as Connection).begin(),
      commitTransaction: (connection) => (connection as Connection).commit(),
      rollbackTransaction: async (connection) => (connection as Connection).rollback(),
      releaseConnection: async (connection) => (connection as Connection).rollback(),
      destroy: async () => undefined,
    }
  }
}

const isWriting = /\b(insert|update|delete)\b/i

class ConcurrentAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class Connection implements DatabaseConnection {
  readonly #database: Database
  readonly #process: Process
  readonly #handle: SqliteHandle
  readonly #onWrite: OnWrite
  /** The texts of a transaction. */
  #transaction: string[] | undefined
  #epoch = 0

  constructor(database: Database, process: Process, use: { handle: SqliteHandle; onWrite: OnWrite }) {
    this.#database = database
    this.#process = process
    this.#handle = use.handle
    this.#onWrite = use.onWrite
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#transaction !== undefined) {
      this.#transaction.push(describe(query))
      return this.#handle.execute(query) as QueryResult<R>
    }
    const epoch = await this.#database.arrive(this.#process)
    const result = this.#handle.execute(query) as QueryResult<R>
    if (isWriting.test(query.sql)) this.#onWrite(this.#process, describe(query))
    await this.#database.answer(this.#process, epoch)
    return result
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('deliveries are not streamed')
  }

  async begin(): Promise<void> {
    this.#epoch = await this.#database.arrive(this.#process)
    this.#handle.command('begin immediate')
    this.#transaction = []
  }

  async commit(): Promise<void> {
    this.#handle.command('commit')
    const text = this.#transaction!.join('; ')
    this.#transaction = undefined
    this.#onWrite(this.#process, text)
    await this.#database.answer(this.#process, this.#epoch)
  }

  rollback(): void {
    if (this.#transaction === undefined) return
    this.#transaction = undefined
    this.#handle.command('rollback')
  }
}

function describe(query: CompiledQuery): string {
  return `${query.sql} ${JSON.stringify(query.parameters)}`
}

function unavailable(): Error {
  return errors.WP_STORE_BUSY({ database: 'model', seconds: 5 })
}
