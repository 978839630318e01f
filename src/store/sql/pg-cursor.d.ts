declare module 'pg-cursor' {
  export default class Cursor<Row> {
    constructor(sql: string, parameters: readonly unknown[])
    read(rows: number): Promise<Row[]>
    close(): Promise<void>
  }
}
