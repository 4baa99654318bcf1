#include "listing.hpp"

#include <algorithm>
#include <limits>

namespace quia {

namespace {

class TableListing : public Listing {
 public:
  explicit TableListing(std::shared_ptr<const SetTable> sets) : sets_(std::move(sets)) {}
  const Word* next(Budget&) override { return at_ < sets_->size() ? sets_->row(at_++) : nullptr; }

 private:
  std::shared_ptr<const SetTable> sets_;
  std::size_t at_ = 0;
};

// The lazy merge.
class MergeListing : public Listing {
 public:
  MergeListing(std::shared_ptr<const Zdd> zdd, const std::vector<std::int64_t>& costs)
      : zdd_(std::move(zdd)), costs_(costs), words_(zdd_->words()), place_(zdd_->nodes.size(), UINT32_MAX) {}

  const Word* next(Budget& budget) override {
    if (zdd_->root <= unit) {
      if (zdd_->root == none || asked_++ > 0) return nullptr;
      empty_.assign(words_, 0);
      return empty_.data();
    }
    produce(zdd_->root, budget);
    const Made& root = made_[place_[zdd_->root]];
    return root.keys.size() > asked_ ? root.bits.data() + words_ * asked_++ : nullptr;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Key {
    std::int64_t cost;
    std::uint32_t length;
  };
  // The sets made so far below one node, and how many of each child's sets they used.
  struct Made {
    std::vector<Key> keys;
    std::vector<Word> bits;
    std::size_t low = 0, high = 0;
    bool ended = false;
  };

  Made& made(NodeId id) {
    if (place_[id] == UINT32_MAX) {
      place_[id] = static_cast<std::uint32_t>(made_.size());
      made_.emplace_back();
      if (id <= unit) {
        made_.back().ended = true;
        if (id == unit) {
          made_.back().keys.push_back({0, 0});
          made_.back().bits.assign(words_, 0);
        }
      }
    }
    return made_[place_[id]];
  }

  // Makes one more set of the node, first those of its children that this needs.
  void produce(NodeId wanted, Budget& budget) {
    stack_.assign(1, wanted);
    while (!stack_.empty()) {
      budget.step();
      const NodeId id = stack_.back();
      const Node& node = zdd_->nodes[id];
      made(node.low);
      made(node.high);
      Made& here = made(id);  // after the others: making room moves them
      const Made& low = made_[place_[node.low]];
      const Made& high = made_[place_[node.high]];
      if (here.low >= low.keys.size() && !low.ended) {
        stack_.push_back(node.low);
        continue;
      }
      if (here.high >= high.keys.size() && !high.ended) {
        stack_.push_back(node.high);
        continue;
      }
      stack_.pop_back();
      const bool has_low = here.low < low.keys.size(), has_high = here.high < high.keys.size();
      if (!has_low && !has_high) {
        here.ended = true;
        continue;
      }
      const std::uint32_t member = zdd_->member_at[node.level];
      bool from_high = !has_low;
      if (has_low && has_high) from_high = high_first(low, here.low, high, here.high, member);
      const Made& source = from_high ? high : low;
      std::size_t& used = from_high ? here.high : here.low;
      Key key = source.keys[used];
      const std::size_t start = here.bits.size();
      bytes_ += words_ * sizeof(Word) + sizeof(Key);
      budget.reserve(bytes_);
      here.bits.resize(start + words_);
      std::copy_n(source.bits.data() + used * words_, words_, here.bits.data() + start);
      if (from_high) {
        put(here.bits.data() + start, member);
        key.cost += costs_.empty() ? 0 : costs_[member];
        ++key.length;
      }
      here.keys.push_back(key);
      ++used;
    }
  }

  bool high_first(const Made& low, std::size_t i, const Made& high, std::size_t j, std::uint32_t member) const {
    const Key a = low.keys[i];
    const Key b = high.keys[j];
    const std::int64_t cost = b.cost + (costs_.empty() ? 0 : costs_[member]);
    if (a.cost != cost) return cost < a.cost;
    if (a.length != b.length + 1) return b.length + 1 < a.length;
    const Word* without = low.bits.data() + i * words_;
    const Word* with = high.bits.data() + j * words_;
    for (std::size_t w = 0; w < words_; ++w) {
      const Word set = with[w] | (member >> 6 == w ? Word(1) << (member & 63) : 0);
      if (const Word differ = without[w] ^ set) return set & (differ & (~differ + 1));
    }
    return false;
  }

  std::shared_ptr<const Zdd> zdd_;
  const std::vector<std::int64_t>& costs_;
  std::size_t words_;
  std::vector<std::uint32_t> place_;
  std::vector<Made> made_;
  std::vector<NodeId> stack_;
  std::vector<Word> empty_;
  std::size_t asked_ = 0, bytes_ = 0;
};

// The first sets by the lazy merge; after them, sorted parts.
class ZddListing : public Listing {
 public:
  ZddListing(std::shared_ptr<const Zdd> zdd, std::vector<std::int64_t> costs)
      : zdd_(std::move(zdd)), costs_(std::move(costs)) {}

  const Word* next(Budget& budget) override {
    if (!merge_) merge_ = std::make_unique<MergeListing>(zdd_, costs_);
    if (merging() && !sorting_) {
      const Word* set = merge_->next(budget);
      if (set) ++given_;
      return set;
    }
    if (!sorting_ && !plan(budget)) return merge_->next(budget);
    for (;;) {
      if (at_ < part_.size()) return part_.row(at_++);
      if (parts_.empty()) return nullptr;
      open_part(budget);
    }
  }

 private:
  static constexpr std::size_t merged_first = 1000;
  static constexpr std::size_t merged_bytes = std::size_t(1) << 28;
  static constexpr std::size_t part_words = std::size_t(1) << 22;  // 32 MiB a sorted part

  struct Part {
    std::shared_ptr<const Zdd> zdd;
    std::vector<Word> decided;  // members whose presence is the same in all its sets
  };

  // The merge remembers a set of each node for each set given: of thousands of variables that is gigabytes soon.
  bool merging() const {
    return given_ < merged_first && merge_->bytes() + zdd_->nodes.size() * zdd_->words() * sizeof(Word) < merged_bytes;
  }

  bool fits(const Zdd& zdd, Budget& budget) const {
    const auto count = Counts(zdd, budget).total();
    return count.limbs().size() <= 1 && (count.is_zero() || count.limbs()[0] <= part_words / zdd.words());
  }

  // Chooses the parts to sort; false if costs forbid taking one length after the other.
  bool plan(Budget& budget) {
    const std::vector<Word> nothing(zdd_->words(), 0);
    if (fits(*zdd_, budget)) {
      parts_.push_back({zdd_, nothing});
    } else {
      if (!costs_.empty()) return false;
      const auto counts = counts_by_length(*zdd_, budget);
      for (auto length = counts.rbegin(); length != counts.rend(); ++length) lengths_.push_back(length->first);
      parts_.push_back({nullptr, nothing});
    }
    skip_ = given_;
    sorting_ = true;
    merge_ = std::make_unique<MergeListing>(zdd_, costs_);  // lets go of what it remembers
    return true;
  }

  // Takes the topmost part: sorts it if it fits, else splits it by its smallest undecided member, with first.
  void open_part(Budget& budget) {
    Part part = parts_.back();  // the list itself changes only when the work, which may be interrupted, is done
    if (!part.zdd) {
      part.zdd = std::make_shared<const Zdd>(of_length(*zdd_, lengths_.back(), budget));
      lengths_.pop_back();
      if (lengths_.empty()) parts_.pop_back();
      parts_.push_back(std::move(part));
      return;
    }
    if (fits(*part.zdd, budget)) {
      SetTable sorted(part.zdd->universe);
      expand(*part.zdd, sorted, budget);
      sort_by_contract(sorted, costs_.empty() ? nullptr : &costs_, budget);
      parts_.pop_back();
      part_ = std::move(sorted);
      at_ = std::min(skip_, part_.size());
      skip_ -= at_;
      return;
    }
    std::size_t member = 0;
    while (has(part.decided.data(), member)) ++member;
    put(part.decided.data(), member);
    std::vector<Word> one(part.decided.size(), 0);
    const std::vector<Word> nothing(part.decided.size(), 0);
    put(one.data(), member);
    Part with{std::make_shared<const Zdd>(restrict(*part.zdd, one.data(), nothing.data(), budget)), part.decided};
    Part without{std::make_shared<const Zdd>(restrict(*part.zdd, nothing.data(), one.data(), budget)), part.decided};
    parts_.back() = std::move(without);
    parts_.push_back(std::move(with));
  }

  std::shared_ptr<const Zdd> zdd_;
  std::vector<std::int64_t> costs_;
  std::unique_ptr<MergeListing> merge_;
  std::size_t given_ = 0, skip_ = 0, at_ = 0;
  bool sorting_ = false;
  std::vector<Part> parts_;          // the next one last; without a ZDD: the next length
  std::vector<std::size_t> lengths_;  // the next one last
  SetTable part_;
};

}  // namespace

std::unique_ptr<Listing> list_table(std::shared_ptr<const SetTable> sorted) {
  return std::make_unique<TableListing>(std::move(sorted));
}

std::unique_ptr<Listing> list_zdd(std::shared_ptr<const Zdd> zdd, std::vector<std::int64_t> costs) {
  return std::make_unique<ZddListing>(std::move(zdd), std::move(costs));
}

}  // namespace quia
