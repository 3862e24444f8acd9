// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the SQL of standard input in DuckDB, and prints what it selects: values with tabs between.
//
//     node tests/fleet/duckdb.mjs NODE_MODULES < FILE.sql
import fs from 'fs';
const { DuckDBInstance } = await import(`${process.argv[2]}/@duckdb/node-api/lib/index.js`);
const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
for (const statement of fs.readFileSync(0, 'utf8').split(/;\s*\n/)) {
  if (!statement.trim()) continue;
  const result = await connection.runAndReadAll(statement);
  if (/^(\s|--.*\n)*(SELECT|WITH)/i.test(statement))
    for (const row of result.getRows()) process.stdout.write(row.map(String).join('\t') + '\n');
}
