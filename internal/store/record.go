package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

// Record finds the entry of a request id, if the filter lets it through; ok is false when there is none.
func (s *Store) Record(ctx context.Context, id string, f audit.Filter) (e audit.Entry, ok bool, err error) {
	where, args := conditions(f)
	list, err := s.entriesWhere(ctx, where+` AND id = ?`, append(args, id)...)
	if err != nil || len(list) == 0 {
		return audit.Entry{}, false, err
	}
	return list[0], true, nil
}

// Records lists entries and counts all that the filter lets through, its After, Limit and Offset apart.
func (s *Store) Records(ctx context.Context, f audit.Filter) (list []audit.Entry, total int, err error) {
	where, args := conditions(f)
	if err := s.reads(ctx).QueryRowContext(ctx, `SELECT COUNT(*) FROM records WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count records: %w", s.explain(err))
	}
	order, after := ` ORDER BY seq`, ` AND seq > ?`
	if f.Newest {
		order, after = ` ORDER BY seq DESC`, ` AND seq < ?`
	}
	if f.After != 0 {
		where, args = where+after, append(args, f.After)
	}
	list, err = s.entriesWhere(ctx, where+order+` LIMIT ? OFFSET ?`, append(args, f.Limit, f.Offset)...)
	return list, total, err
}

// conditions are the filter as SQL.
func conditions(f audit.Filter) (where string, args []any) {
	where = `1 = 1`
	add := func(condition string, values ...any) {
		where, args = where+` AND `+condition, append(args, values...)
	}
	if f.Account != "" {
		add(`(agent = '' AND account = ? OR agent IN (SELECT id FROM agents WHERE account = ?))`, f.Account, f.Account)
	}
	if len(f.Agents) > 0 {
		ids := make([]any, len(f.Agents))
		for i, id := range f.Agents {
			ids[i] = id
		}
		add(`agent IN (?`+strings.Repeat(",?", len(ids)-1)+`)`, ids...)
	}
	if f.Session != "" {
		add(`session = ?`, f.Session)
	}
	if f.Surface != "" {
		add(`surface = ?`, f.Surface)
	}
	if prefix, all := strings.CutSuffix(f.Kind, "*"); all {
		add(`substr(type, 1, ?) = ?`, len(prefix), prefix)
	} else if f.Kind != "" {
		add(`type = ?`, f.Kind)
	}
	if f.Notable {
		add(`notable = 1`)
	}
	if !f.Since.IsZero() {
		add(`time >= ?`, stored(f.Since))
	}
	if !f.Until.IsZero() {
		add(`time < ?`, stored(f.Until))
	}
	return where, args
}

func (s *Store) entriesWhere(ctx context.Context, where string, args ...any) (list []audit.Entry, err error) {
	rows, err := s.reads(ctx).QueryContext(ctx, `SELECT seq, id, record, prev, hash, leaf FROM records WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", s.explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		list = append(list, e)
	}
	return list, s.explain(rows.Err())
}
